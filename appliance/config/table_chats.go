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
				"sooner, and an unfinished one later).",
			kind: oneOf(func(c *Config) *string {
				return &c.TurnDetection.Mode
			}, string(contract.TurnBySilence), string(contract.TurnSemantic)),
		},
		{
			Key:         "answers.rules",
			Flag:        "answer-rules",
			Placeholder: "WHEN",
			Default:     ForEmbedded,
			Help: "Put the box's rules for spoken answers before the prompts of clients, and check that answers " +
				"claim no action that no tool has performed: for embedded models, always, or never.",
			kind: oneOf(func(c *Config) *string { return &c.Answers.Rules }, ForEmbedded, ForAll, ForNone),
		},
		{
			Key:         "expression",
			Placeholder: "WHO",
			Default:     ForServers,
			Help: "Measure feelings in what users and the assistant say, and mention a user's strong feelings in " +
				"the prompt: of models on servers, always (also of embedded models), or never; off measures none.",
			kind: custom("`servers`, `always`, `never`, `off`", setExpression),
		},
		{
			Key:     "chat.max_chats",
			Flag:    "max-chats",
			Default: "0",
			Help:    "Chats that may be live at once; another one is refused with 503. 0 is four per core.",
			kind:    number(func(c *Config) *int { return &c.Chat.MaxChats }, 0, 10000),
		},
		{
			Key:         "chat.max_added_ms",
			Flag:        "max-added-ms",
			Placeholder: "MS",
			Default:     "3000",
			Help: "How many milliseconds after the silence that ends a turn answers may come before new chats " +
				"are refused with 503; 0 is no limit.",
			kind: number(func(c *Config) *int { return &c.Chat.MaxAddedMS }, 0, 600000),
		},
		{
			Key:         "chat.sound_ahead",
			Flag:        "sound-ahead",
			Placeholder: "S",
			Default:     "5",
			Help:        "How many seconds ahead of its playback the sound of an answer is sent.",
			kind: number(
				func(c *Config) *int {
					return &c.Chat.SoundLeadS
				}, contract.MinSoundAheadSecs, contract.MaxSoundAheadSecs),
		},
		{
			Key:         "retention.keep",
			Placeholder: "WHAT",
			Default:     retainAll + " for ever",
			Help: "What is stored of chats: all, text (no recordings) or nothing; and for how long after their " +
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
			Help: "The region whose conventions texts follow: whether 3/4 is in March or in April, how much a " +
				"billion is, and what R5,50 means.",
			kind: oneOf(func(c *Config) *string { return &c.Speech.Locale }, text.Locales()...),
		},
		{
			Key:         "speech.loudness_lufs",
			Flag:        "loudness",
			Placeholder: "LUFS",
			Default:     "-23",
			Help:        "Loudness of voices in chats, in text-to-speech and in parley say: -35 to -12 LUFS.",
			kind:        number(func(c *Config) *int { return &c.Speech.LoudnessLUFS }, -35, -12),
		},
		{
			Key:         "lexicon",
			Placeholder: "WORD=SAID,...",
			Help:        "How words are pronounced, for all accounts: phonemes between slashes, or a respelling.",
			kind:        mapKind("a map, or `WORD=SAID` entries with commas", setLexicon),
		},
		{
			Key:         "voices.aliases",
			Flag:        "voice-aliases",
			Placeholder: "OLD=NEW,...",
			Help: "Which voice of this box stands in for a name or id that programs request and that the box " +
				"does not have.",
			kind: mapKind("a map, or `OLD=NEW` entries with commas", setVoiceAliases),
		},
		{
			Key:     "speech.keep",
			Default: "1000 for 30 days",
			Help: "How many generations of an account are stored, so that they can be spoken again and their " +
				"voices saved, and for how long; the oldest are deleted first. 0 is none.",
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
			Help: "Milliseconds of a tool's work after which the assistant says that it takes a while; 0 is " +
				"never.",
			kind: number(func(c *Config) *int { return &c.Tools.FillerMS }, 0, 60_000),
		},
		{
			Key:         "tools.answer_tokens",
			Flag:        "tool-answer-tokens",
			Placeholder: "TOKENS",
			Default:     "600",
			Help:        "Tokens of a tool's answer that embedded models get at most; fewer on a slow machine.",
			// Fewer than 64 hold no list, and 2,048 are a quarter of the longest conversation.
			kind: number(func(c *Config) *int { return &c.Tools.AnswerTokens }, 64, 2048),
		},
		{
			Key:  "plugins",
			Help: "Plugins whose tools every chat has, even without a config; for kiosks.",
			kind: textListKind("a list of names, or text with commas", func(c *Config) *[]string { return &c.Plugins },
				pluginName),
		},
		{
			Key:     "plugin_signatures.required",
			Flag:    "require-signature",
			Default: "false",
			Help:    "Run only plugins that one of the trusted keys has signed.",
			kind:    boolean(func(c *Config) *bool { return &c.PluginSignatures.Required }),
		},
		{
			Key:  "plugin_signatures.keys",
			Flag: "plugin-keys",
			Help: "Public keys of the plugin authors that the box trusts, as ed25519:BASE64.",
			kind: textListKind("a list, or text with commas",
				func(c *Config) *[]string { return &c.PluginSignatures.Keys }, pluginKey),
		},
		{
			Key:         "web_search.url",
			Flag:        "web-search",
			Placeholder: "URL",
			Help:        "Base URL of the SearXNG server that the tool web_search uses.",
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
			Help: "Chats of one account that may be live at once; 0 is three quarters of all, and all while there is " +
				"no other account.",
			kind: number(func(c *Config) *int { return &c.Limits.ChatsPerAccount }, 0, 10000),
		},
		{
			Key:     "limits.requests_per_second",
			Flag:    "requests-per-second",
			Default: "200",
			Help:    "Requests of one account per second, after the burst; 0 is no limit.",
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
			Help:    "Connections of all clients; 0 is no limit.",
			kind:    number(func(c *Config) *int { return &c.Limits.Connections }, 0, 1_000_000),
		},
		{
			Key:     "limits.connections_per_address",
			Flag:    "connections-per-address",
			Default: "200",
			Help:    "Connections from one address; 0 is no limit.",
			kind:    number(func(c *Config) *int { return &c.Limits.ConnectionsPerAddress }, 0, 1_000_000),
		},
		{
			Key:     "limits.disk_per_account",
			Flag:    "disk-per-account",
			Default: "50%",
			Help:    "Disk space for one account; 0 is no limit.",
			kind:    size(func(c *Config) *Size { return &c.Limits.DiskPerAccount }),
		},
		{
			Key:     "limits.recordings",
			Flag:    "recordings-quota",
			Default: "25% for 30 days",
			Help: "Disk space for the recordings of all chats, and how long after its chat a recording is stored; " +
				"the oldest are deleted first. 0 is no limit, and for ever is as long as the chat.",
			kind: withDays(size(func(c *Config) *Size { return &c.Limits.Recordings }),
				func(c *Config) *int { return &c.Limits.RecordingsDays }),
		},
	}
}
