package contract

import "time"

// Audio.
const (
	OutputRateHz    = 48000  // of every clip that a chat sends
	MinSampleRateHz = 4000   // below it speech cannot be understood
	MaxSampleRateHz = 192000 // the highest rate of studio equipment
	MaxChannels     = 32     // as PulseAudio makes of some devices; the loudest is used
)

// How many seconds ahead of its playback a client may receive sound. Clips last a
// second or two, so with less it would run out between them. A minute is what a
// line buffers for a client that does not read.
const (
	MinSoundAheadSecs = 2
	MaxSoundAheadSecs = 60
)

// Sizes on the wire.
const (
	// MaxMessageBytes is the largest WebSocket message: 60 s of 48 kHz stereo
	// 16-bit PCM are 11.0 MiB and 14.7 MiB in base64; what is more belongs in
	// several messages.
	MaxMessageBytes = 16 << 20
	// MaxWholeRecording is the longest audio of one message before it counts as a
	// whole recording instead of a stream (error E0723). Clients send 20 to 100
	// ms, a recorder with a slow timeslice a second or two.
	MaxWholeRecording = 5 * time.Second

	MaxInputChars           = 10_000   // of one user_input or assistant_input: some ten minutes of speech
	MaxPromptChars          = 100_000  // of a system prompt or a context: more than any embedded model reads
	MaxCustomSessionIDChars = 512      // it is repeated on every message
	MaxSessionTools         = 128      // as many as a language model accepts
	MaxMetadataBytes        = 16 << 10 // of a chat: a page of chats brings it a hundred times
)

// Limits of settings. Clients send a prompt of a few thousand characters with a
// dozen variables. With these limits, a box with its maximum of chats can hold
// all their settings in memory.
const (
	// MaxExamples bounds the examples of a config, and MaxExampleChars a question
	// or an answer in them: half a minute of speech. Eight short ones are enough
	// for a small model; thirty-two long ones are as much as an embedded model
	// could process besides its prompt.
	MaxExamples     = 32
	MaxExampleChars = 500
	// MaxAnswerItems bounds the approved answers of a config: a museum's desk has
	// a few dozen, a catalogue a few hundred. MaxWaysToAsk and MaxAskChars bound
	// the ways to ask for one, and MaxSayChars what is said: a minute of speech.
	MaxAnswerItems   = 500
	MaxAnswerIDChars = 64
	MaxWaysToAsk     = 50
	MaxAskChars      = 200
	MaxSayChars      = 1000
	// MaxUnknownChars bounds what is said if no approved answer fits.
	MaxUnknownChars = 300
	// MaxVariables bounds the variables of a chat, over all messages.
	MaxVariables = 1000
	// MaxVariableNameChars and MaxVariableChars bound the name of a variable and
	// its value: an article, or a customer's record, has a few thousand.
	MaxVariableNameChars = 100
	MaxVariableChars     = 10_000
	// MaxPromptBytes bounds a prompt with its variables filled in: as long as one
	// without variables, in a script of four bytes a character. It also bounds
	// the names and values of a chat's variables together.
	MaxPromptBytes = 4 * MaxPromptChars
	// MaxEventTextBytes is the same bound for a text that the assistant says on
	// an event: a greeting.
	MaxEventTextBytes = 4 * MaxInputChars
	// MaxToolsBytes bounds the tools of a chat together, as JSON. A language
	// model processes all of it before every answer, and 128 tools of ordinary
	// size have half of that.
	MaxToolsBytes = 256 << 10
	// MaxSettingsBytes bounds one message of settings, as JSON: a prompt and a
	// context of the usual length, or one of the longest. The history stores each
	// message in one event, which cannot hold more.
	MaxSettingsBytes = 500_000
)

// Names and texts of configs, prompts and tools, in characters.
const (
	MaxNameChars               = 74
	MaxVersionDescriptionChars = 255
	MaxToolNameChars           = 64
	MaxToolDescriptionChars    = 511
	MaxFallbackContentChars    = 2047
	MaxModelResourceChars      = 1024
)

// Turn taking.
const (
	DefaultEndOfTurnSilenceMS = 800
	MinEndOfTurnSilenceMS     = 500
	MaxEndOfTurnSilenceMS     = 3000

	DefaultSpeechThreshold = 0.5
	DefaultPrefixPaddingMS = 300
	MaxPrefixPaddingMS     = 3000 // longer than any pause within a turn

	DefaultMinInterruptionMS = 800
	MinMinInterruptionMS     = 50
	MaxMinInterruptionMS     = 2000
)

// Timeouts of a chat.
const (
	DefaultInactivity  = 600 * time.Second
	DefaultMaxDuration = 1800 * time.Second
	MinTimeout         = 30 * time.Second
	MaxTimeout         = 1800 * time.Second
)

// Other fields of a config.
const (
	MaxTemperature   = 2.0  // beyond it models write noise
	MaxWebhooks      = 32   // each receives the events of every chat
	MaxFallback      = 4    // a caller who waited for three models to fail has hung up
	MaxURLChars      = 2048 // the most that other software accepts
	DefaultNudgeSecs = 10
	MinNudgeSecs     = 1
)

// Pages, and the resumption and errors of chats.
const (
	DefaultPageSize = 10
	MaxPageSize     = 100
	// MaxResumedEvents bounds the newest events of a resumed chat group that the
	// language model sees.
	MaxResumedEvents = 300
	// MaxIdenticalErrors in a row close a socket.
	MaxIdenticalErrors = 10
)
