package contract

import "time"

// Audio.
const (
	OutputRateHz    = 48000  // of every clip that a chat sends
	MinSampleRateHz = 4000   // below it no speech is understood
	MaxSampleRateHz = 192000 // the highest rate of studio equipment
	MaxChannels     = 32     // what PulseAudio makes of its devices; the loudest is heard
)

// How far ahead of its playback a client may have its sound: clips come a second
// or two at a time, so that below the least it would run dry between them, and a
// minute is what a line holds for one that does not take it.
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
	// MaxWholeRecording is the longest audio that one message may bring before
	// it counts as a whole recording instead of a stream (error E0723). Clients
	// send 20 to 100 ms, a recorder with a slow timeslice a second or two.
	MaxWholeRecording = 5 * time.Second

	MaxInputChars           = 10_000   // of one user_input or assistant_input: some ten minutes of speech
	MaxPromptChars          = 100_000  // of a system prompt or a context: more than any embedded model reads
	MaxCustomSessionIDChars = 512      // it is repeated on every message
	MaxSessionTools         = 128      // as many as the language model could be told of
	MaxMetadataBytes        = 16 << 10 // of a chat: a page of chats brings it a hundred times
)

// What settings may cost. Clients send a prompt of a few thousand characters
// with a dozen variables; the bounds are where a box still minds none of a full
// house of chats, each of which holds its settings in memory.
const (
	// MaxExamples is how many examples a config may bring, and MaxExampleChars how
	// long a question or an answer in them may be: half a minute of speech. Eight
	// short ones are enough for a small model; thirty-two long ones are as much
	// as an embedded model could read beside its prompt.
	MaxExamples     = 32
	MaxExampleChars = 500
	// MaxVariables is how many a chat may have, whichever message brought them.
	MaxVariables = 1000
	// MaxVariableNameChars and MaxVariableChars bound the name of a variable and
	// its value: an article, or a customer's record, is a few thousand.
	MaxVariableNameChars = 100
	MaxVariableChars     = 10_000
	// MaxPromptBytes is how long a prompt may be with its variables filled in:
	// as long as one without variables, in a script of four bytes a character.
	// What a chat's variables hold together, names and values, is bounded by the
	// same: there is no room for more in a prompt.
	MaxPromptBytes = 4 * MaxPromptChars
	// MaxEventTextBytes is the same for a text that the assistant is to say: a
	// greeting.
	MaxEventTextBytes = 4 * MaxInputChars
	// MaxToolsBytes is how much the tools of a chat may say together, as JSON.
	// A language model reads all of it before every answer, and 128 tools of
	// ordinary size are half of that.
	MaxToolsBytes = 256 << 10
	// MaxSettingsBytes is how much one message of settings may hold, as JSON: a
	// prompt and a context of the usual length, or one of the longest. The
	// history keeps each message, and an event of it has no room for more.
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

// What else a config may say.
const (
	MaxTemperature   = 2.0  // beyond it models write noise
	MaxWebhooks      = 32   // each is told of every chat
	MaxFallback      = 4    // language models: who has waited for three to fail has hung up
	MaxURLChars      = 2048 // what other software takes at most
	DefaultNudgeSecs = 10
	MinNudgeSecs     = 1
)

// The rest.
const (
	DefaultPageSize = 10
	MaxPageSize     = 100
	// MaxResumedEvents is how many of the newest events of a resumed chat
	// group the language model sees.
	MaxResumedEvents = 300
	// MaxIdenticalErrors in a row close a socket.
	MaxIdenticalErrors = 10
)
