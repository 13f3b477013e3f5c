package config

import (
	"parley/appliance/contract"
	"parley/appliance/text"
)

func chatSettings() []Setting {
	return []Setting{
		{
			Key:         "turn_detection.mode",
			Flag:        "turn-detection",
			Placeholder: "MODE",
			Default:     string(contract.TurnBySilence),
			Help: "What ends a user's turn: silence, or semantic (a sentence that sounds finished is answered " +
				"sooner, another one waited for).",
			kind: oneOf(func(c *Config) *string {
				return &c.TurnDetection.Mode
			}, string(contract.TurnBySilence), string(contract.TurnSemantic)),
		},
		{
			Key:         "answers.rules",
			Flag:        "answer-rules",
			Placeholder: "WHEN",
			Default:     ForEmbedded,
			Help: "Put the box's own rules for spoken answers before prompts that clients bring, and check that " +
				"answers claim nothing that no tool has done: for embedded models, always, or never.",
			kind: oneOf(func(c *Config) *string { return &c.Answers.Rules }, ForEmbedded, ForAll, ForNone),
		},
		{
			Key:         "expression",
			Placeholder: "WHO",
			Default:     ForServers,
			Help: "Measure feelings, in what users say and in the assistant's sentences, and tell language models " +
				"of those that stand out in what a user says: models on servers, always (the embedded one too), or " +
				"never; off measures none.",
			kind: custom("`servers`, `always`, `never`, `off`", setExpression),
		},
		{
			Key:     "chat.max_chats",
			Flag:    "max-chats",
			Default: "0",
			Help:    "Chats open at once; one more is refused with 503. 0 is four for each core.",
			kind:    number(func(c *Config) *int { return &c.Chat.MaxChats }, 0, 10000),
		},
		{
			Key:         "chat.max_added_ms",
			Flag:        "max-added-ms",
			Placeholder: "MS",
			Default:     "3000",
			Help: "By how many milliseconds answers may come later than the silence that ends a turn, before more " +
				"chats are refused with 503; 0 is any number.",
			kind: number(func(c *Config) *int { return &c.Chat.MaxAddedMS }, 0, 600000),
		},
		{
			Key:         "chat.sound_ahead",
			Flag:        "sound-ahead",
			Placeholder: "S",
			Default:     "5",
			Help:        "By how many seconds the sound of an answer is sent ahead of its playback.",
			kind: number(
				func(c *Config) *int {
					return &c.Chat.SoundAheadS
				}, contract.MinSoundAheadSecs, contract.MaxSoundAheadSecs),
		},
		{
			Key:         "retention.keep",
			Placeholder: "WHAT",
			Default:     retainAll + " for ever",
			Help: "What is kept of chats: all, text (they are not recorded) or nothing; and for how long after their " +
				"end, such as all for 30 days.",
			kind: withDays(kind{allowed: "`all`, `text`, `nothing`", set: setRetention, show: showRetention},
				func(c *Config) *int { return &c.Retention.Days }),
		},
	}
}

func speechSettings() []Setting {
	return []Setting{
		{
			Key:            "speech.locale",
			Flag:           "locale",
			Placeholder:    "TAG",
			DefaultInWords: "that of the voice",
			Help: "Where texts are written: whether 3/4 is in March or in April, how large a billion is said, " +
				"and what R5,50 is.",
			kind: oneOf(func(c *Config) *string { return &c.Speech.Locale }, text.Locales()...),
		},
		{
			Key:         "speech.loudness_lufs",
			Flag:        "loudness",
			Placeholder: "LUFS",
			Default:     "-23",
			Help:        "How loud voices are, in chats, in text-to-speech and in say: -35 to -12 LUFS.",
			kind:        number(func(c *Config) *int { return &c.Speech.LoudnessLUFS }, -35, -12),
		},
		{
			Key:         "lexicon",
			Placeholder: "WORD=SAID,...",
			Help:        "How words are said, for all accounts: phonemes between slashes, or a respelling.",
			kind:        mapKind("a map, or `WORD=SAID` with commas", setLexicon),
		},
		{
			Key:         "voices.aliases",
			Flag:        "voice-aliases",
			Placeholder: "OLD=NEW,...",
			Help: "Which voice of this box stands in for a name or id that programs ask for and that it does " +
				"not have.",
			kind: mapKind("a map, or `OLD=NEW` with commas", setVoiceAliases),
		},
		{
			Key:     "speech.keep",
			Default: "1000 for 30 days",
			Help: "Generations of an account of which is kept what it takes to speak again and to save their " +
				"voices, and for how long; the oldest go first. 0 is none.",
			kind: withDays(number(func(c *Config) *int { return &c.Speech.Generations }, 0, 100_000),
				func(c *Config) *int { return &c.Speech.GenerationDays }),
		},
	}
}

func toolSettings() []Setting {
	return []Setting{
		{
			Key:         "tools.timeout",
			Flag:        "tool-timeout",
			Placeholder: "SECONDS",
			Default:     "30",
			Help: "Seconds that a tool may take to answer, before its fallback is used or the assistant " +
				"apologises.",
			kind: number(func(c *Config) *int { return &c.Tools.TimeoutS }, 1, 600),
		},
		{
			Key:         "tools.filler_ms",
			Flag:        "tool-filler-ms",
			Placeholder: "MS",
			Default:     "1500",
			Help:        "Milliseconds after which the assistant says that it is at it, while a tool is; 0 is never.",
			kind:        number(func(c *Config) *int { return &c.Tools.FillerMS }, 0, 60_000),
		},
		{
			Key:         "tools.answer_tokens",
			Flag:        "tool-answer-tokens",
			Placeholder: "TOKENS",
			Default:     "600",
			Help:        "How much of a tool's answer the embedded models read at most; on a slow machine it is less.",
			// Fewer than 64 hold no list, and 2,048 are a quarter of the longest conversation.
			kind: number(func(c *Config) *int { return &c.Tools.AnswerTokens }, 64, 2048),
		},
		{
			Key:  "plugins",
			Help: "Plugins whose tools every chat has, with or without a config; for kiosks.",
			kind: textListKind("a list of names, or with commas", func(c *Config) *[]string { return &c.Plugins },
				pluginName),
		},
		{
			Key:     "plugin_signatures.required",
			Flag:    "require-signature",
			Default: "false",
			Help:    "Run only plugins that are signed by one of the keys that the box trusts.",
			kind:    boolean(func(c *Config) *bool { return &c.PluginSignatures.Required }),
		},
		{
			Key:  "plugin_signatures.keys",
			Flag: "plugin-keys",
			Help: "Public keys of those whose plugins the box trusts, as ed25519:BASE64.",
			kind: textListKind("a list, or with commas", func(c *Config) *[]string { return &c.PluginSignatures.Keys },
				pluginKey),
		},
		{
			Key:         "web_search.url",
			Flag:        "web-search",
			Placeholder: "URL",
			Help:        "SearXNG server on which the tool web_search searches: its base URL.",
			kind: textKind("an `http://` or `https://` URL", func(c *Config) *string { return &c.WebSearch },
				baseURL),
		},
	}
}

func limitSettings() []Setting {
	return []Setting{
		{
			Key:     "limits.chats_per_account",
			Flag:    "chats-per-account",
			Default: "0",
			Help: "Chats of one account at once; 0 is three quarters of all, and all while there is no other " +
				"account.",
			kind: number(func(c *Config) *int { return &c.Limits.ChatsPerAccount }, 0, 10000),
		},
		{
			Key:     "limits.requests_per_second",
			Flag:    "requests-per-second",
			Default: "200",
			Help:    "Requests of one account a second, for longer than the burst; 0 is any number.",
			kind:    number(func(c *Config) *int { return &c.Limits.RequestsPerSecond }, 0, 1_000_000),
		},
		{
			Key:     "limits.request_burst",
			Flag:    "request-burst",
			Default: "400",
			Help:    "Requests that one account may send at once.",
			kind:    number(func(c *Config) *int { return &c.Limits.RequestBurst }, 1, 1_000_000),
		},
		{
			Key:     "limits.connections",
			Flag:    "connections",
			Default: "1000",
			Help:    "Connections in all; 0 is any number.",
			kind:    number(func(c *Config) *int { return &c.Limits.Connections }, 0, 1_000_000),
		},
		{
			Key:     "limits.connections_per_address",
			Flag:    "connections-per-address",
			Default: "200",
			Help:    "Connections from one address; 0 is any number.",
			kind:    number(func(c *Config) *int { return &c.Limits.ConnectionsPerAddress }, 0, 1_000_000),
		},
		{
			Key:     "limits.disk_per_account",
			Flag:    "disk-per-account",
			Default: "50%",
			Help:    "Room on the disk for one account; 0 is any.",
			kind:    size(func(c *Config) *Size { return &c.Limits.DiskPerAccount }),
		},
		{
			Key:     "limits.recordings",
			Flag:    "recordings-quota",
			Default: "25% for 30 days",
			Help: "Room on the disk for the recordings of all chats, and for how long after its chat one is kept; the " +
				"oldest are deleted first. 0 is any room, and for ever is as long as the chat.",
			kind: withDays(size(func(c *Config) *Size { return &c.Limits.Recordings }),
				func(c *Config) *int { return &c.Limits.RecordingsDays }),
		},
	}
}
