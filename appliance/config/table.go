package config

import (
	"fmt"
	"log/slog"
	"strings"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/firmware/packs"
	"parley/internal/layout"
)

// A Setting is one thing that an operator may set. It has one name in a file,
// one as a flag and one in the environment, and one function that reads its
// value wherever it came from.
type Setting struct {
	Key   string // in parley.yaml, with dots between levels
	Flag  string // without its dashes
	Group string // the heading under which it is listed
	Takes string // the word that stands for its value in help, such as HOST:PORT
	Help  string // what it is, for a terminal
	More  string // what the documentation says besides, in Markdown
	// Switch says that the flag may stand alone: then it is true.
	Switch bool
	// Default is the value where nobody sets one. Where it is not a fixed value,
	// Otherwise says in words what it is.
	Default, Otherwise string
	kind
}

// Env is the setting's environment variable.
func (s Setting) Env() string {
	return "PARLEY_" + strings.ToUpper(strings.ReplaceAll(s.Flag, "-", "_"))
}

// Allowed says what its value may be, in words.
func (s Setting) Allowed() string { return s.allowed }

// The headings of the settings.
const (
	groupBox      = "The box"
	groupTLS      = "TLS"
	groupWebRTC   = "Calls over WebRTC"
	groupKiosk    = "The box's own loudspeaker and microphone"
	groupModels   = "Models"
	groupServer   = "A language model on a server"
	groupChats    = "Chats and what is kept of them"
	groupSpeech   = "Speech"
	groupTools    = "Tools"
	groupWebhooks = "Webhooks"
	groupLimits   = "Limits"
	groupLog      = "Log"
	languageModel = "engines.language_model"
)

// Settings lists all settings, in the order in which they are shown. It is the
// one table of which the file, the variables, the flags, the help and the
// documentation are made.
func Settings() []Setting {
	return []Setting{
		{
			Key:     "data",
			Flag:    "data",
			Group:   groupBox,
			Takes:   "DIR",
			Default: layout.DefaultData,
			Help:    "Folder of the database.",
			More: "`parley serve` makes it, with mode 0711 (others may pass through it to `ca.crt`, and see " +
				"nothing else), where there is none. For root the default is under `/root`.",
			kind: path(func(c *Config) *string { return &c.Data }),
		},
		{
			Key:     "listen",
			Flag:    "listen",
			Group:   groupBox,
			Takes:   "HOST:PORT",
			Default: "127.0.0.1:8080",
			Help:    "Address to listen on; port 0 lets the system choose.",
			kind:    custom("host:port", setListen),
		},
		{
			Key:       "origins",
			Flag:      "origins",
			Group:     groupBox,
			Takes:     "LIST",
			Otherwise: "none",
			Help:      "Web origins besides its own whose pages may use the box.",
			kind:      list("a list, or with commas", setOrigins),
		},
		{
			Key:     "packs",
			Flag:    "packs",
			Group:   groupBox,
			Takes:   "DIR",
			Default: layout.DefaultPacks,
			Help:    "Folder of the model packs.",
			More:    "Where `PARLEY_CACHE` is set, it is `packs` in there.",
			kind:    path(func(c *Config) *string { return &c.Packs }),
		},

		{
			Key:       "webrtc.listen",
			Flag:      "webrtc-listen",
			Group:     groupWebRTC,
			Takes:     "HOST:PORT|off",
			Otherwise: "that of listen",
			Help:      "UDP address for calls over WebRTC, or off.",
			More: "The one port that a firewall has to let through, besides that of `listen`. Where the system " +
				"chooses that of `listen`, it chooses this one, too.",
			kind: custom("host:port, or `off`", setWebRTCListen),
		},
		{
			Key:       "webrtc.public",
			Flag:      "webrtc-public",
			Group:     groupWebRTC,
			Takes:     "LIST",
			Otherwise: "the machine's own",
			Help:      "IP addresses under which callers reach the box, where they are not its own.",
			kind:      list("a list, or with commas", setWebRTCPublic),
		},
		{
			Key:       "webrtc.servers",
			Flag:      "webrtc-servers",
			Group:     groupWebRTC,
			Takes:     "LIST",
			Otherwise: "none",
			Help:      "STUN and TURN servers, for boxes that callers cannot reach directly.",
			kind:      list("a list, or with commas", setWebRTCServers),
		},
		{
			Key:       "webrtc.username",
			Flag:      "webrtc-username",
			Group:     groupWebRTC,
			Takes:     "NAME",
			Otherwise: "none",
			Help:      "The name that the TURN servers know the box by.",
			kind:      custom("a name", setWebRTCUsername),
		},
		{
			Key:       "webrtc.password_env",
			Flag:      "webrtc-password-env",
			Group:     groupWebRTC,
			Takes:     "NAME",
			Otherwise: "none",
			Help:      "Environment variable that holds the password for the TURN servers.",
			kind:      custom("the name of an environment variable", setWebRTCPassword),
		},

		{
			Key:     "tls",
			Flag:    "tls",
			Group:   groupTLS,
			Takes:   "MODE|CERT,KEY",
			Default: "auto",
			Help: "Encryption: auto (off on loopback, own elsewhere), off, own (a certificate that the box " +
				"makes), acme (one that it fetches), or a certificate and its key.",
			More: "In YAML also a map with the keys below. See [security](security.md).",
			kind: custom("`auto`, `off`, `own`, `acme` or `CERT.pem,KEY.pem`", setTLS),
		},
		{
			Key:   "tls.cert",
			Flag:  "tls-cert",
			Group: groupTLS,
			Takes: "FILE",
			Help:  "Certificate chain (PEM).",
			kind:  custom("a path", setTLSCert),
		},
		{
			Key:   "tls.key",
			Flag:  "tls-key",
			Group: groupTLS,
			Takes: "FILE",
			Help:  "Its private key (PEM).",
			kind:  custom("a path", setTLSKey),
		},
		{
			Key:       "tls.names",
			Flag:      "tls-names",
			Group:     groupTLS,
			Takes:     "LIST",
			Otherwise: "none",
			Help: "Names that lead to the box: all of an acme certificate, or names and addresses to add to its " +
				"own.",
			kind: list("a list, or with commas", setTLSNames),
		},
		{
			Key:       "tls.acme",
			Flag:      "tls-acme",
			Group:     groupTLS,
			Takes:     "URL",
			Otherwise: "letsencrypt",
			Help:      "Directory of the ACME server; turns acme on.",
			kind:      custom("`letsencrypt`, or an `https://` URL", setTLSACME),
		},
		{
			Key:       "tls.email",
			Flag:      "tls-email",
			Group:     groupTLS,
			Takes:     "ADDRESS",
			Otherwise: "none",
			Help:      "Where the ACME server may write to.",
			kind:      custom("an e-mail address", setTLSEmail),
		},
		{
			Key:       "tls.roots",
			Flag:      "tls-roots",
			Group:     groupTLS,
			Takes:     "FILE",
			Otherwise: "the system's",
			Help:      "Authorities (PEM) by which the ACME server itself is trusted.",
			kind:      path(func(c *Config) *string { return &c.TLS.Roots }),
		},

		{
			Key:     "kiosk.enabled",
			Flag:    "kiosk",
			Group:   groupKiosk,
			Takes:   "BOOL",
			Default: "false",
			Switch:  true,
			Help:    "Talk with whoever stands in front of the box, over its own loudspeaker and microphone.",
			More:    "See [speaker](speaker.md).",
			kind:    boolean(func(c *Config) *bool { return &c.Kiosk.Enabled }),
		},
		{
			Key:       "kiosk.input",
			Flag:      "kiosk-input",
			Group:     groupKiosk,
			Takes:     "DEVICE",
			Otherwise: "the system's",
			Help:      "Microphone: its id or name, or a part of either; parley devices lists them.",
			kind:      words(func(c *Config) *string { return &c.Kiosk.Input }),
		},
		{
			Key:       "kiosk.output",
			Flag:      "kiosk-output",
			Group:     groupKiosk,
			Takes:     "DEVICE",
			Otherwise: "the system's",
			Help:      "Loudspeaker, named likewise.",
			kind:      words(func(c *Config) *string { return &c.Kiosk.Output }),
		},
		{
			Key:       "kiosk.config_id",
			Flag:      "kiosk-config",
			Group:     groupKiosk,
			Takes:     "CONFIG",
			Otherwise: "the box's own assistant",
			Help:      "Id or name of the config that it talks by.",
			kind:      words(func(c *Config) *string { return &c.Kiosk.Config }),
		},
		{
			Key:     "kiosk.account",
			Flag:    "kiosk-account",
			Group:   groupKiosk,
			Takes:   "NAME",
			Default: "default",
			Help:    "Account whose config it is, and whose conversations they are.",
			kind:    words(func(c *Config) *string { return &c.Kiosk.Account }),
		},
		{
			Key:     "kiosk.start",
			Flag:    "kiosk-start",
			Group:   groupKiosk,
			Takes:   "HOW",
			Default: KioskOnSpeech,
			Help:    "What begins a conversation: speech, a phrase, a key, or a button at a GPIO line.",
			More:    "`POST /v0/box/kiosk/start`, the keyboard and the button begin one however it is set.",
			kind: oneOf(func(c *Config) *string {
				return &c.Kiosk.Start
			}, KioskOnSpeech, KioskOnPhrase, KioskOnKey, KioskOnButton),
		},
		{
			Key:       "kiosk.phrase",
			Flag:      "kiosk-phrase",
			Group:     groupKiosk,
			Takes:     "WORDS",
			Otherwise: "none",
			Help: "The phrase, such as Hey Parley, or several, with ; between them: Hey Parley; Hallo Museum. " +
				"What is said behind it, in the same breath, belongs to the first turn.",
			kind: custom(fmt.Sprintf("%d to %d letters and digits; up to %d phrases", shortestPhrase,
				longestPhrase, mostPhrases), setPhrases),
		},
		{
			Key:       "kiosk.keyboard",
			Flag:      "kiosk-keyboard",
			Group:     groupKiosk,
			Takes:     "DEVICE",
			Otherwise: "none",
			Help:      "Input device any of whose keys begins a conversation, or ends it, such as /dev/input/event3.",
			kind:      custom("a path under /dev/input", setKeyboard),
		},
		{
			Key:       "kiosk.gpio",
			Flag:      "kiosk-gpio",
			Group:     groupKiosk,
			Takes:     "CHIP:LINE",
			Otherwise: "none",
			Help:      "GPIO line of a button that begins a conversation, or ends it, such as gpiochip0:17.",
			More:      "The button connects the line with ground; with `:high` behind it, with 3.3 V.",
			kind:      custom("CHIP:LINE or CHIP:LINE:high", setGPIO),
		},
		{
			Key:     "kiosk.silence",
			Flag:    "kiosk-silence",
			Group:   groupKiosk,
			Takes:   "SECONDS",
			Default: "20",
			Help:    "Seconds in which nobody says anything, after which a conversation ends.",
			kind:    number(func(c *Config) *int { return &c.Kiosk.SilenceS }, 3, 3600),
		},
		{
			Key:     "kiosk.cue",
			Flag:    "kiosk-cue",
			Group:   groupKiosk,
			Takes:   "HOW",
			Default: CueTones,
			Help:    "How one hears that a conversation begins and ends: tones, words, or off.",
			kind:    oneOf(func(c *Config) *string { return &c.Kiosk.Cue }, CueTones, CueWords, Off),
		},
		{
			Key:       "kiosk.greeting",
			Flag:      "kiosk-greeting",
			Group:     groupKiosk,
			Takes:     "WORDS",
			Otherwise: "Hello, how can I help you?",
			Help:      "What the assistant says first, with the cue words, to who has said nothing yet.",
			kind:      words(func(c *Config) *string { return &c.Kiosk.Greeting }),
		},
		{
			Key:       "kiosk.farewell",
			Flag:      "kiosk-farewell",
			Group:     groupKiosk,
			Takes:     "WORDS",
			Otherwise: "goodbye in the language spoken",
			Help:      "What it says last, with the cue words, where the silence ends the conversation.",
			kind:      words(func(c *Config) *string { return &c.Kiosk.Farewell }),
		},

		{
			Key:     "profile",
			Flag:    "profile",
			Group:   groupModels,
			Takes:   "NAME",
			Default: packs.Profiles()[0],
			Help:    "Which packs parley packs pull fetches, and which language model answers unless one is named.",
			kind:    oneOf(func(c *Config) *string { return &c.Profile }, packs.Profiles()...),
		},
		{
			Key:     "engines.transcriber",
			Flag:    "transcriber",
			Group:   groupModels,
			Takes:   "NAME",
			Default: "moonshine",
			Help:    "Speech to text: moonshine (English, quick) or whisper (many languages, better in noise, slower).",
			kind:    oneOf(func(c *Config) *string { return &c.Engines.Transcriber }, "moonshine", "whisper"),
		},
		{
			Key:       languageModel,
			Flag:      "language-model",
			Group:     groupModels,
			Takes:     "PACK",
			Otherwise: "that of the profile",
			Help:      "Embedded language model: llm-qwen, or one that was added with parley packs add.",
			More:      "In YAML also a map with the three keys of a server.",
			kind:      custom("the name of a pack", setLanguageModel),
		},
		{
			Key:     "engines.voice",
			Flag:    "voice",
			Group:   groupModels,
			Takes:   "NAME",
			Default: "voice-joe",
			Help:    "Voice when a chat names none, with or without voice-.",
			kind:    custom("the name of a pack", setVoice),
		},
		{
			Key:     "engines.threads",
			Flag:    "threads",
			Group:   groupModels,
			Takes:   "N",
			Default: "0",
			Help:    "Cores that all engines together may use; 0 is all of the machine.",
			kind:    number(func(c *Config) *int { return &c.Engines.Threads }, 0, 256),
		},
		{
			Key:       "routes",
			Flag:      "routes",
			Group:     groupModels,
			Takes:     "LIST",
			Otherwise: "none",
			Help:      "Which model answers for those that configs name.",
			More:      "See [below](#routes-for-language-models).",
			kind:      custom("in YAML a list of maps", setRoutes),
		},
		{
			Key:       "fallback",
			Flag:      "fallback",
			Group:     groupModels,
			Takes:     "LIST",
			Otherwise: "none",
			Help: "Models that answer, one after the other, where one on a server fails: packs, or " +
				"URL|MODEL|KEY_ENV.",
			More: "In YAML an item may be a map with the keys openai, model and key_env. See [language " +
				"models](language-models.md#when-a-model-fails).",
			kind: list("a list, or with commas", setFallback),
		},
		{
			Key:     "strict_models",
			Flag:    "strict-models",
			Group:   groupModels,
			Takes:   "BOOL",
			Default: "false",
			Help: "Refuse chats whose config names a model without a route (E0711), instead of letting the box's " +
				"own answer.",
			kind: boolean(func(c *Config) *bool { return &c.StrictModels }),
		},
		{
			Key:       "models.allow",
			Flag:      "models-allow",
			Group:     groupModels,
			Takes:     "LIST",
			Otherwise: "none",
			Help: "Where custom language models, whose URLs clients choose, may be in the box's own network: " +
				"hosts, addresses or ranges.",
			More: "A host or an address may have a port: `llm.lan`, `127.0.0.1:5000`, `192.168.1.0/24`, " +
				"`\"[fd00::7]:8000\"`. Public addresses need no entry. See [which " +
				"addresses](language-models.md#which-addresses).",
			kind: list("a list, or with commas", setModelsAllow),
		},

		{
			Key:       languageModel + ".openai",
			Flag:      "openai",
			Group:     groupServer,
			Takes:     "URL",
			Otherwise: "none",
			Help:      "Let a server with the OpenAI API answer, and send it what is said: its base URL.",
			kind:      custom("an `http://` or `https://` URL", setOpenAI),
		},
		{
			Key:   languageModel + ".model",
			Flag:  "openai-model",
			Group: groupServer,
			Takes: "NAME",
			Help:  "The model's name on that server; required with it.",
			kind:  custom("a name", setServerModel),
		},
		{
			Key:       languageModel + ".key_env",
			Flag:      "openai-key-env",
			Group:     groupServer,
			Takes:     "VARIABLE",
			Otherwise: "none: no key is sent",
			Help:      "Environment variable that holds the key for that server.",
			More:      "The key itself is never written in a file.",
			kind:      custom("the name of a variable", setKeyEnv),
		},

		{
			Key:     "turn_detection.mode",
			Flag:    "turn-detection",
			Group:   groupChats,
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
			Group:   groupChats,
			Takes:   "WHEN",
			Default: ForEmbedded,
			Help: "Put the box's own rules for spoken answers before prompts that clients bring: for embedded " +
				"models, always, or never.",
			More: "They say how to speak, what to say where the facts have no answer, and how yes and no follow " +
				"from a fact, with examples. A prompt with `prompt_expansion.enabled: false` stands alone. See " +
				"[prompts](prompts.md).",
			kind: oneOf(func(c *Config) *string { return &c.Answers.Rules }, ForEmbedded, ForAll, ForNone),
		},
		{
			Key:     "answers.check",
			Flag:    "answer-check",
			Group:   groupChats,
			Takes:   "WHEN",
			Default: ForEmbedded,
			Help: "Check what answers say: that something was done which no tool has done, who made the assistant, " +
				"and a hasty yes. Of embedded models, always, or never.",
			More: "In place of such a claim is said that it cannot be done from here. See " +
				"[prompts](prompts.md#what-an-answer-may-not-say).",
			kind: oneOf(func(c *Config) *string { return &c.Answers.Check }, ForEmbedded, ForAll, ForNone),
		},
		{
			Key:     "expression.measured",
			Flag:    "expression",
			Group:   groupChats,
			Takes:   "on|off",
			Default: "on",
			Help:    "Whether feelings are measured, in what users say and in the assistant's sentences.",
			More: "Off, `models` is `{}` everywhere and no `assistant_prosody` is sent. See " +
				"[expression](expression.md).",
			kind: onOff(func(c *Config) *bool { return &c.Expression.Measured }),
		},
		{
			Key:     "expression.told",
			Flag:    "tell-feelings",
			Group:   groupChats,
			Takes:   "WHO",
			Default: ForServers,
			Help: "Which language models are told of feelings that stand out in what a user says: of servers, " +
				"always (the embedded one too), or never.",
			More: "It is a few words behind the user's, `(sounds: tired, sad)`, for the model alone.",
			kind: oneOf(func(c *Config) *string { return &c.Expression.Told }, ForServers, ForAll, ForNone),
		},
		{
			Key:     "chat.max_chats",
			Flag:    "max-chats",
			Group:   groupChats,
			Takes:   "N",
			Default: "0",
			Help:    "Chats open at once; one more is refused with 503. 0 is four for each core.",
			kind:    number(func(c *Config) *int { return &c.Chat.MaxChats }, 0, 10000),
		},
		{
			Key:     "chat.max_added_ms",
			Flag:    "max-added-ms",
			Group:   groupChats,
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
			Group:   groupChats,
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
			Key:     "retention.days",
			Flag:    "retention-days",
			Group:   groupChats,
			Takes:   "N",
			Default: "0",
			Help:    "Days after its end that a chat is kept, with its recording; 0 is for ever.",
			More:    "See [history](history.md).",
			kind:    number(func(c *Config) *int { return &c.Retention.Days }, 0, 36500),
		},
		{
			Key:     "retention.audio",
			Flag:    "retention-audio",
			Group:   groupChats,
			Takes:   "on|off",
			Default: "on",
			Help:    "Whether chats are recorded.",
			kind:    onOff(func(c *Config) *bool { return &c.Retention.Audio }),
		},
		{
			Key:     "retention.history",
			Flag:    "retention-history",
			Group:   groupChats,
			Takes:   "on|off",
			Default: "on",
			Help:    "Whether anything of a chat is kept.",
			More:    "Off, nothing of a chat is written, its sound neither, and none can be resumed (E0720).",
			kind:    onOff(func(c *Config) *bool { return &c.Retention.History }),
		},

		{
			Key:       "speech.locale",
			Flag:      "locale",
			Group:     groupSpeech,
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
			Group:   groupSpeech,
			Takes:   "LUFS",
			Default: "-23",
			Help:    "How loud voices are, in chats, in text-to-speech and in say: -35 to -12 LUFS.",
			More: "-23 is what broadcasters use, -16 what podcasts do; a lobby wants more than a quiet room. " +
				"Every 6 is about twice as loud for who hears it close by. Peaks are held under full scale, smoothly.",
			kind: number(func(c *Config) *int { return &c.Speech.LoudnessLUFS }, -35, -12),
		},
		{
			Key:       "lexicon",
			Flag:      "lexicon",
			Group:     groupSpeech,
			Takes:     "WORD=SAID,...",
			Otherwise: "none",
			Help:      "How words are said, for all accounts: phonemes between slashes, or a respelling.",
			More:      "In YAML a map, such as `Nguyen: /wɪn/`. See [pronunciation](pronunciation.md).",
			kind:      pairs("a map, or `WORD=SAID` with commas", setLexicon),
		},
		{
			Key:       "voices.aliases",
			Flag:      "voice-aliases",
			Group:     groupSpeech,
			Takes:     "OLD=NEW,...",
			Otherwise: "none",
			Help: "Which voice of this box stands in for a name or id that programs ask for and that it does " +
				"not have.",
			More: "In YAML a map, such as `Gazza: joe`. The voices of the cloud library have a stand-in without " +
				"it. See [voices](voices.md#names-of-the-old-library).",
			kind: pairs("a map, or `OLD=NEW` with commas", setVoiceAliases),
		},
		{
			Key:     "speech.keep",
			Flag:    "speech-keep",
			Group:   groupSpeech,
			Takes:   "N",
			Default: "1000",
			Help: "Generations of an account of which is kept what it takes to speak again and to save their " +
				"voices; the oldest go first. 0 is none.",
			More: "No sound is kept, but texts, voices and seeds: 1 KB each as a rule, 100 KB for the longest. " +
				"Where `retention.history` is off, no texts either. See [text-to-speech](tts.md#what-is-kept).",
			kind: number(func(c *Config) *int { return &c.Speech.Keep }, 0, 100_000),
		},
		{
			Key:     "speech.keep_days",
			Flag:    "speech-keep-days",
			Group:   groupSpeech,
			Takes:   "N",
			Default: "30",
			Help:    "Days that it is kept; 0 is for ever.",
			More:    "A month is enough to decide that a voice is worth saving.",
			kind:    number(func(c *Config) *int { return &c.Speech.KeepDays }, 0, 36500),
		},

		{
			Key:     "tools.timeout",
			Flag:    "tool-timeout",
			Group:   groupTools,
			Takes:   "SECONDS",
			Default: "30",
			Help:    "Seconds that a tool may take to answer, before its fallback is used or the assistant apologises.",
			kind:    number(func(c *Config) *int { return &c.Tools.TimeoutS }, 1, 600),
		},
		{
			Key:     "tools.filler_ms",
			Flag:    "tool-filler-ms",
			Group:   groupTools,
			Takes:   "MS",
			Default: "1500",
			Help:    "Milliseconds after which the assistant says that it is at it, while a tool is; 0 is never.",
			kind:    number(func(c *Config) *int { return &c.Tools.FillerMS }, 0, 60_000),
		},
		{
			Key:     "tools.answer_tokens",
			Flag:    "tool-answer-tokens",
			Group:   groupTools,
			Takes:   "TOKENS",
			Default: "600",
			Help:    "How much of a tool's answer the embedded models read at most; on a slow machine it is less.",
			More: "What is longer is shortened to what the user asked for, to as much as the machine reads in two " +
				"seconds, and 100 tokens at least. See [long answers](tools.md#long-answers).",
			// Fewer than 64 hold no list, and 2,048 are a quarter of the longest conversation.
			kind: number(func(c *Config) *int { return &c.Tools.AnswerTokens }, 64, 2048),
		},
		{
			Key:       "plugins",
			Flag:      "plugins",
			Group:     groupTools,
			Takes:     "LIST",
			Otherwise: "none",
			Help:      "Plugins whose tools every chat has, with or without a config; for kiosks.",
			More: "Other plugins are in the chats whose config has a tool of theirs. See [plugins in " +
				"chats](plugins/chats.md).",
			kind: list("a list of names, or with commas", setPlugins),
		},
		{
			Key:     "plugin_signatures.required",
			Flag:    "require-signature",
			Group:   groupTools,
			Takes:   "BOOL",
			Default: "false",
			Help:    "Run only plugins that are signed by one of the keys that the box trusts.",
			More: "Those that are installed without one are stopped. See [installing " +
				"plugins](plugins/installing.md#signatures).",
			kind: boolean(func(c *Config) *bool { return &c.PluginSignatures.Required }),
		},
		{
			Key:       "plugin_signatures.keys",
			Flag:      "plugin-keys",
			Group:     groupTools,
			Takes:     "LIST",
			Otherwise: "none",
			Help:      "Public keys of those whose plugins the box trusts, as ed25519:BASE64.",
			kind:      list("a list, or with commas", setPluginKeys),
		},
		{
			Key:       "web_search.url",
			Flag:      "web-search",
			Group:     groupTools,
			Takes:     "URL",
			Otherwise: "none",
			Help:      "SearXNG server on which the tool web_search searches: its base URL.",
			More: "The server has to allow the format `json` (`search.formats` in its settings). Without one, " +
				"the tool fails, and its `fallback_content` is used.",
			kind: custom("an `http://` or `https://` URL", setWebSearch),
		},

		{
			Key:     "webhooks.allow_private",
			Flag:    "webhooks-allow-private",
			Group:   groupWebhooks,
			Takes:   "BOOL",
			Default: "false",
			Help:    "Let webhooks go to the box itself and to private addresses, also over http.",
			More: "Whoever makes configs then reaches what listens there, with a POST whose answer they do not " +
				"see. See [webhooks](webhooks.md#where-webhooks-may-go).",
			kind: boolean(func(c *Config) *bool { return &c.Webhooks.AllowPrivate }),
		},

		{
			Key:     "limits.chats_per_account",
			Flag:    "chats-per-account",
			Group:   groupLimits,
			Takes:   "N",
			Default: "0",
			Help: "Chats of one account at once; 0 is three quarters of all, and all while there is no other " +
				"account.",
			kind: number(func(c *Config) *int { return &c.Limits.ChatsPerAccount }, 0, 10000),
		},
		{
			Key:     "limits.requests_per_second",
			Flag:    "requests-per-second",
			Group:   groupLimits,
			Takes:   "N",
			Default: "200",
			Help:    "Requests of one account a second, for longer than the burst; 0 is any number.",
			More:    "An address has as many for what brings no key, or one that has not opened the box lately.",
			kind:    number(func(c *Config) *int { return &c.Limits.RequestsPerSecond }, 0, 1_000_000),
		},
		{
			Key:     "limits.request_burst",
			Flag:    "request-burst",
			Group:   groupLimits,
			Takes:   "N",
			Default: "400",
			Help:    "Requests that one account may send at once.",
			kind:    number(func(c *Config) *int { return &c.Limits.RequestBurst }, 1, 1_000_000),
		},
		{
			Key:     "limits.connections",
			Flag:    "connections",
			Group:   groupLimits,
			Takes:   "N",
			Default: "1000",
			Help:    "Connections in all; 0 is any number.",
			More:    "Over HTTP/2, requests under way count like connections.",
			kind:    number(func(c *Config) *int { return &c.Limits.Connections }, 0, 1_000_000),
		},
		{
			Key:     "limits.connections_per_address",
			Flag:    "connections-per-address",
			Group:   groupLimits,
			Takes:   "N",
			Default: "200",
			Help:    "Connections from one address; 0 is any number.",
			More: "Clients on the machine itself, as a reverse proxy there, have no limit of their own. Behind a " +
				"proxy on another machine all clients have its address: set 0 there.",
			kind: number(func(c *Config) *int { return &c.Limits.ConnectionsPerAddress }, 0, 1_000_000),
		},
		{
			Key:     "limits.disk_per_account",
			Flag:    "disk-per-account",
			Group:   groupLimits,
			Takes:   "SIZE",
			Default: "50%",
			Help:    "Room on the disk for one account; 0 is any.",
			More: "One that has no more of it begins no chats and makes no configs, prompts and tools until " +
				"something is deleted.",
			kind: size(func(c *Config) *Size { return &c.Limits.DiskPerAccount }),
		},
		{
			Key:     "limits.recordings",
			Flag:    "recordings-quota",
			Group:   groupLimits,
			Takes:   "SIZE",
			Default: "25%",
			Help:    "Room on the disk for the recordings of all chats; the oldest are deleted first. 0 is any.",
			kind:    size(func(c *Config) *Size { return &c.Limits.Recordings }),
		},
		{
			Key:     "limits.recordings_days",
			Flag:    "recordings-days",
			Group:   groupLimits,
			Takes:   "N",
			Default: "30",
			Help:    "Days after a chat that its recording is kept; 0 is as long as the chat.",
			More:    "See [history](history.md#how-long-things-are-kept).",
			kind:    number(func(c *Config) *int { return &c.Limits.RecordingsDays }, 0, 36500),
		},

		{
			Key:     "log.level",
			Flag:    "log-level",
			Group:   groupLog,
			Takes:   "LEVEL",
			Default: "info",
			Help:    "How much is logged: debug, info, warn or error.",
			kind:    level(func(c *Config) *slog.Level { return &c.Log.Level }),
		},
		{
			Key:     "log.format",
			Flag:    "log-format",
			Group:   groupLog,
			Takes:   "FORMAT",
			Default: "auto",
			Help:    "auto (text on a terminal, JSON elsewhere), text or json.",
			kind:    oneOf(func(c *Config) *string { return &c.Log.Format }, "auto", "text", "json"),
		},
	}
}
