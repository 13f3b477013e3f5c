package config

import (
	"fmt"

	"parley/firmware/packs"
)

func kioskSettings() []Setting {
	return []Setting{
		{
			Key:     "kiosk.enabled",
			Flag:    "kiosk",
			Default: "false",
			Switch:  true,
			Help:    "Talk with the person in front of the box, over its own loudspeaker and microphone.",
			kind:    boolean(func(c *Config) *bool { return &c.Kiosk.Enabled }),
		},
		{
			Key:            "kiosk.devices",
			Placeholder:    "DEVICES",
			DefaultInWords: "the system's",
			Help: "Microphone and loudspeaker, as MICROPHONE|LOUDSPEAKER: their ids or names, or parts of them; " +
				"parley doctor --devices lists them.",
			kind: custom("a name, or two with `|` between them", setDevices),
		},
		{
			Key:            "kiosk.config_id",
			Flag:           "kiosk-config",
			Placeholder:    "CONFIG",
			DefaultInWords: "the box's default assistant",
			Help:           "Id or name of the config of these chats.",
			kind:           lineKind(func(c *Config) *string { return &c.Kiosk.Config }),
		},
		{
			Key:         "kiosk.account",
			Placeholder: "NAME",
			Default:     "default",
			Help:        "Account that owns the config and the chats.",
			kind:        lineKind(func(c *Config) *string { return &c.Kiosk.Account }),
		},
		{
			Key:         "kiosk.start",
			Placeholder: "HOW",
			Default:     KioskOnSpeech,
			Help:        "What starts a chat: speech, a phrase, a key, or a button at a GPIO line.",
			kind: oneOf(func(c *Config) *string {
				return &c.Kiosk.Start
			}, KioskOnSpeech, KioskOnPhrase, KioskOnKey, KioskOnButton),
		},
		{
			Key:         "kiosk.phrase",
			Placeholder: "WORDS",
			Help: "The phrase, such as Hey Parley, or several, with ; between them: Hey Parley; Hallo Museum. " +
				"What follows it in the same breath belongs to the first turn.",
			kind: custom(fmt.Sprintf("%d to %d letters and digits; up to %d phrases", minPhraseLetters,
				maxPhraseLetters, maxPhrases), setPhrases),
		},
		{
			Key:         "kiosk.button",
			Placeholder: "DEVICE|CHIP:LINE",
			Help: "What starts or ends a chat when it is pressed: any key of an input device such as " +
				"/dev/input/event3, or a button at a GPIO line such as gpiochip0:17.",
			kind: listKind("a path under /dev/input, CHIP:LINE or CHIP:LINE:high", setButton),
		},
		{
			Key:         "kiosk.silence",
			Placeholder: "SECONDS",
			Default:     "20",
			Help:        "Seconds of silence after which a chat ends.",
			kind:        number(func(c *Config) *int { return &c.Kiosk.SilenceS }, 3, 3600),
		},
		{
			Key:         "kiosk.cue",
			Placeholder: "HOW",
			Default:     CueTones,
			Help:        "How people hear that a chat starts and ends: tones, words, or off.",
			kind:        oneOf(func(c *Config) *string { return &c.Kiosk.Cue }, CueTones, CueWords, Off),
		},
		{
			Key:            "kiosk.greeting",
			Placeholder:    "WORDS",
			DefaultInWords: "Hello, how can I help you?",
			Help:           "What the assistant says first with the cue words, unless the user spoke before.",
			kind:           lineKind(func(c *Config) *string { return &c.Kiosk.Greeting }),
		},
		{
			Key:            "kiosk.farewell",
			Placeholder:    "WORDS",
			DefaultInWords: "goodbye in the language spoken",
			Help:           "What the assistant says last with the cue words, if silence ends the chat.",
			kind:           lineKind(func(c *Config) *string { return &c.Kiosk.Farewell }),
		},
	}
}

func modelSettings() []Setting {
	return []Setting{
		{
			Key:         "profile",
			Placeholder: "NAME",
			Default:     packs.Profiles()[0],
			Help:        "Which packs parley packs pull fetches, and which language model is the default.",
			kind:        oneOf(func(c *Config) *string { return &c.Profile }, packs.Profiles()...),
		},
		{
			Key:         transcriber,
			Flag:        "transcriber",
			Placeholder: "NAME",
			Default:     "moonshine",
			Help: "Speech to text: moonshine (English, quick), whisper (many languages, better in noise, slower), " +
				"or servers with the OpenAI API, which then receive what users say: URL|MODEL|KEY_ENV, several with " +
				"commas. A name among servers is that of the transcriber that takes over when all of them fail.",
			kind: listKind("`moonshine`, `whisper`, or servers as `URL|MODEL` or `URL|MODEL|KEY_ENV`", setTranscriber),
		},
		{
			Key:            languageModel,
			Flag:           "language-model",
			Placeholder:    "MODEL",
			DefaultInWords: "that of the profile",
			Help: "Language model: llm-qwen, a pack that was added with parley packs add, or a model on one or " +
				"several servers with the OpenAI API, which then receive the chats: URL|MODEL|KEY_ENV, with commas.",
			kind: listKind("the name of a pack, or servers as `URL|MODEL` or `URL|MODEL|KEY_ENV`", setLanguageModel),
		},
		{
			Key:         "engines.voice",
			Flag:        "voice",
			Placeholder: "NAME",
			Default:     "voice-joe",
			Help:        "Voice of chats that name none, with or without voice-, or one of engines.voice_servers.",
			kind: textKind("the name of a pack or of a voice on a server",
				func(c *Config) *string { return &c.Engines.Voice }, voiceName),
		},
		{
			Key: "engines.voice_servers",
			Help: "Servers with the OpenAI API whose voices are in the library, and which then receive the texts " +
				"that these voices speak. Servers with a voice of the same name share the work.",
			kind: listOfMaps(func(c *Config) *[]VoiceServer { return &c.Engines.VoiceServers }, checkVoiceServer,
				voiceServerKeys()),
		},
		{
			Key:     "engines.threads",
			Flag:    "threads",
			Default: "0",
			Help:    "Cores for all engines together; 0 is all of the machine.",
			kind:    number(func(c *Config) *int { return &c.Engines.Threads }, 0, 256),
		},
		{
			Key:         "routes",
			Placeholder: "LIST",
			Help:        "Which model answers in place of a model that a config names.",
			kind:        listKind("in YAML a list of maps", setRoutes),
		},
		{
			Key: "fallback",
			Help: "Models that are tried, in this order, when one on a server fails: packs, or " +
				"URL|MODEL|KEY_ENV.",
			kind: listKind("a list, or text with commas", setFallback),
		},
		{
			Key:     "strict_models",
			Default: "false",
			Help: "Refuse a chat whose config names a model without a route (E0711); otherwise the default model " +
				"answers.",
			kind: boolean(func(c *Config) *bool { return &c.StrictModels }),
		},
		{
			Key: "models.allow",
			Help: "Where custom language models, whose URLs clients choose, may be in the local network: hosts, " +
				"addresses or ranges.",
			kind: listKind("a list, or text with commas", setModelsAllow),
		},
	}
}
