package config

import (
	"parley/appliance/contract"
	"parley/appliance/text"
)

func chatSettings() []Setting {
	return []Setting{
		{
			Key:     "turn_detection.mode",
			Flag:    "turn-detection",
			Takes:   "MODE",
			Default: string(contract.TurnBySilence),
			Help: "What ends a user's turn: silence, or semantic (a sentence that sounds finished is answered " +
				"sooner, another one waited for).",
			More: "`silence` waits for the config's `end_of_turn_silence_ms`, exactly. `semantic` asks a model in " +
				"each pause whether what was said sounds finished: then the answer comes after 350 ms, and the later " +
				"the less it does, up to 1.8 s; where the words show that more must come after 1.8 or 3 s. A config " +
				"may say it for itself: `turn_detection.mode`.",
			kind: oneOf(func(c *Config) *string {
				return &c.TurnDetection.Mode
			}, string(contract.TurnBySilence), string(contract.TurnSemantic)),
		},
		{
			Key:     "answers.rules",
			Flag:    "answer-rules",
			Takes:   "WHEN",
			Default: ForEmbedded,
			Help: "Put the box's own rules for spoken answers before prompts that clients bring, and leave out of " +
				"answers the numbers and names that nobody has told: for embedded models, always, or never.",
			More: "The rules say how to speak, what to say where the facts have no answer, and how yes and no follow " +
				"from a fact, with examples. A prompt with `prompt_expansion.enabled: false` stands alone. What is " +
				"left out of answers is that which neither the prompt nor the conversation has, where a config or a " +
				"client brings a prompt with five numbers or more: such a prompt has facts. At others it is for " +
				"times, prices and the like in an answer that follows on a tool's. In place of the sentence is said " +
				"that the assistant does not know. See [prompts](prompts.md).",
			kind: oneOf(func(c *Config) *string { return &c.Answers.Rules }, ForEmbedded, ForAll, ForNone),
		},
		{
			Key:     "expression",
			Takes:   "WHO",
			Default: ForServers,
			Help: "Measure feelings, in what users say and in the assistant's sentences, and tell language models " +
				"of those that stand out in what a user says: models on servers, always (the embedded one too), or " +
				"never; off measures none.",
			More: "What a model is told is a few words behind the user's, `(sounds: tired, sad)`, for the model " +
				"alone. Off, `models` is `{}` everywhere and no `assistant_prosody` is sent. See " +
				"[expression](expression.md).",
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
			Key:     "chat.max_added_ms",
			Flag:    "max-added-ms",
			Takes:   "MS",
			Default: "3000",
			Help: "By how many milliseconds answers may come later than the silence that ends a turn, before more " +
				"chats are refused with 503; 0 is any number.",
			More: "Of two chats or more that were answered in the last 30 s, more than half have to be later. " +
				"What waits for a custom language model or a tool does not count. After three seconds of silence " +
				"more, people think that the line is dead; a slow machine with two callers may well need one. See " +
				"[how many chats](bench.md#chats).",
			kind: number(func(c *Config) *int { return &c.Chat.MaxAddedMS }, 0, 600000),
		},
		{
			Key:     "chat.sound_ahead",
			Flag:    "sound-ahead",
			Takes:   "S",
			Default: "5",
			Help:    "By how many seconds the sound of an answer is sent ahead of its playback.",
			More: "A client rides out a stall of its network for so long, " +
				"and one on a slow link hears of an interruption so much later at most. " +
				"A client that wants another number says so with `sound_ahead_secs`: see [chat](chat.md).",
			kind: number(
				func(c *Config) *int {
					return &c.Chat.SoundAheadS
				}, contract.MinSoundAheadSecs, contract.MaxSoundAheadSecs),
		},
		{
			Key:     "retention.keep",
			Takes:   "WHAT",
			Default: keepAll + " for ever",
			Help: "What is kept of chats: all, text (they are not recorded) or nothing; and for how long after their " +
				"end, such as all for 30 days.",
			More: "`nothing` means that nothing of a chat is written, its sound neither, and that none can be resumed " +
				"(E0720). See [history](history.md).",
			kind: lasting(kind{allowed: "`all`, `text`, `nothing`", set: setRetention, show: showRetention},
				func(c *Config) *int { return &c.Retention.Days }),
		},
	}
}

func speechSettings() []Setting {
	return []Setting{
		{
			Key:       "speech.locale",
			Flag:      "locale",
			Takes:     "TAG",
			Otherwise: "that of the voice",
			Help: "Where texts are written: whether 3/4 is in March or in April, how large a billion is said, " +
				"and what R5,50 is.",
			More: "Every voice reads so. See [pronunciation](pronunciation.md#locales).",
			kind: oneOf(func(c *Config) *string { return &c.Speech.Locale }, text.Locales()...),
		},
		{
			Key:     "speech.loudness_lufs",
			Flag:    "loudness",
			Takes:   "LUFS",
			Default: "-23",
			Help:    "How loud voices are, in chats, in text-to-speech and in say: -35 to -12 LUFS.",
			More: "-23 is what broadcasters use, -16 what podcasts do; a lobby wants more than a quiet room. " +
				"Every 6 is about twice as loud for who hears it close by. Peaks are held under full scale, smoothly.",
			kind: number(func(c *Config) *int { return &c.Speech.LoudnessLUFS }, -35, -12),
		},
		{
			Key:   "lexicon",
			Takes: "WORD=SAID,...",
			Help:  "How words are said, for all accounts: phonemes between slashes, or a respelling.",
			More:  "In YAML a map, such as `Nguyen: /wɪn/`. See [pronunciation](pronunciation.md).",
			kind:  pairs("a map, or `WORD=SAID` with commas", setLexicon),
		},
		{
			Key:   "voices.aliases",
			Flag:  "voice-aliases",
			Takes: "OLD=NEW,...",
			Help: "Which voice of this box stands in for a name or id that programs ask for and that it does " +
				"not have.",
			More: "In YAML a map, such as `Gazza: joe`. The voices of the cloud library have a stand-in without " +
				"it. See [voices](voices.md#names-of-the-old-library).",
			kind: pairs("a map, or `OLD=NEW` with commas", setVoiceAliases),
		},
		{
			Key:     "speech.keep",
			Default: "1000 for 30 days",
			Help: "Generations of an account of which is kept what it takes to speak again and to save their " +
				"voices, and for how long; the oldest go first. 0 is none.",
			More: "No sound is kept, but texts, voices and seeds: 1 KB each as a rule, 100 KB for the longest. " +
				"Where `retention.keep` is `nothing`, no texts either. A month is enough to decide that a voice is " +
				"worth saving. See [text-to-speech](tts.md#what-is-kept).",
			kind: lasting(number(func(c *Config) *int { return &c.Speech.Keep }, 0, 100_000),
				func(c *Config) *int { return &c.Speech.KeepDays }),
		},
	}
}

func toolSettings() []Setting {
	return []Setting{
		{
			Key:     "tools.timeout",
			Flag:    "tool-timeout",
			Takes:   "SECONDS",
			Default: "30",
			Help:    "Seconds that a tool may take to answer, before its fallback is used or the assistant apologises.",
			kind:    number(func(c *Config) *int { return &c.Tools.TimeoutS }, 1, 600),
		},
		{
			Key:     "tools.filler_ms",
			Flag:    "tool-filler-ms",
			Takes:   "MS",
			Default: "1500",
			Help:    "Milliseconds after which the assistant says that it is at it, while a tool is; 0 is never.",
			kind:    number(func(c *Config) *int { return &c.Tools.FillerMS }, 0, 60_000),
		},
		{
			Key:     "tools.answer_tokens",
			Flag:    "tool-answer-tokens",
			Takes:   "TOKENS",
			Default: "600",
			Help:    "How much of a tool's answer the embedded models read at most; on a slow machine it is less.",
			More: "What is longer is shortened to what the user asked for, to as much as the machine reads in two " +
				"seconds, and 100 tokens at least. See [long answers](tools.md#long-answers).",
			// Fewer than 64 hold no list, and 2,048 are a quarter of the longest conversation.
			kind: number(func(c *Config) *int { return &c.Tools.AnswerTokens }, 64, 2048),
		},
		{
			Key:  "plugins",
			Help: "Plugins whose tools every chat has, with or without a config; for kiosks.",
			More: "Other plugins are in the chats whose config has a tool of theirs. See [plugins in " +
				"chats](plugins/chats.md).",
			kind: list("a list of names, or with commas", func(c *Config) *[]string { return &c.Plugins }, pluginName),
		},
		{
			Key:     "plugin_signatures.required",
			Flag:    "require-signature",
			Default: "false",
			Help:    "Run only plugins that are signed by one of the keys that the box trusts.",
			More: "Those that are installed without one are stopped. See [installing " +
				"plugins](plugins/installing.md#signatures).",
			kind: boolean(func(c *Config) *bool { return &c.PluginSignatures.Required }),
		},
		{
			Key:  "plugin_signatures.keys",
			Flag: "plugin-keys",
			Help: "Public keys of those whose plugins the box trusts, as ed25519:BASE64.",
			kind: list("a list, or with commas", func(c *Config) *[]string { return &c.PluginSignatures.Keys },
				pluginKey),
		},
		{
			Key:   "web_search.url",
			Flag:  "web-search",
			Takes: "URL",
			Help:  "SearXNG server on which the tool web_search searches: its base URL.",
			More: "The server has to allow the format `json` (`search.formats` in its settings). Without one, " +
				"the tool fails, and its `fallback_content` is used.",
			kind: custom("an `http://` or `https://` URL", setWebSearch),
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
			More:    "An address has as many for what brings no key, or one that has not opened the box lately.",
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
			More:    "Over HTTP/2, requests under way count like connections.",
			kind:    number(func(c *Config) *int { return &c.Limits.Connections }, 0, 1_000_000),
		},
		{
			Key:     "limits.connections_per_address",
			Flag:    "connections-per-address",
			Default: "200",
			Help:    "Connections from one address; 0 is any number.",
			More: "Clients on the machine itself, as a reverse proxy there, have no limit of their own. Behind a " +
				"proxy on another machine all clients have its address: set 0 there.",
			kind: number(func(c *Config) *int { return &c.Limits.ConnectionsPerAddress }, 0, 1_000_000),
		},
		{
			Key:     "limits.disk_per_account",
			Flag:    "disk-per-account",
			Default: "50%",
			Help:    "Room on the disk for one account; 0 is any.",
			More: "One that has no more of it begins no chats and makes no configs, prompts and tools until " +
				"something is deleted.",
			kind: size(func(c *Config) *Size { return &c.Limits.DiskPerAccount }),
		},
		{
			Key:     "limits.recordings",
			Flag:    "recordings-quota",
			Default: "25% for 30 days",
			Help: "Room on the disk for the recordings of all chats, and for how long after its chat one is kept; the " +
				"oldest are deleted first. 0 is any room, and for ever is as long as the chat.",
			More: "See [history](history.md#how-long-things-are-kept).",
			kind: lasting(size(func(c *Config) *Size { return &c.Limits.Recordings }),
				func(c *Config) *int { return &c.Limits.RecordingsDays }),
		},
	}
}
