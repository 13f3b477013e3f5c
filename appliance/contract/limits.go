package contract

import "time"

// Audio.
const (
	OutputRateHz    = 48000  // of every clip that a chat sends
	MinSampleRateHz = 4000   // below it no speech is understood
	MaxSampleRateHz = 192000 // the highest rate of studio equipment
	MaxChannels     = 8
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

	MaxInputChars           = 10_000  // of one user_input or assistant_input: some ten minutes of speech
	MaxPromptChars          = 100_000 // of a system prompt or a context: more than any embedded model reads
	MaxCustomSessionIDChars = 512     // it is repeated on every message
	MaxSessionTools         = 128     // as many as the language model could be told of
	MaxVariables            = 1000
	MaxMetadataBytes        = 16 << 10 // of a chat: a page of chats brings it a hundred times
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
	// InactivityGrace is how long the box waits for an answer after it has
	// spoken the message for an inactive user.
	InactivityGrace = 15 * time.Second
)

// What else a config may say.
const (
	MaxTemperature   = 2.0  // beyond it models write noise
	MaxWebhooks      = 32   // each is told of every chat
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
	MaxIdenticalErrors  = 10
	AccessTokenLifetime = 30 * time.Minute
	WebhookReplayWindow = 180 * time.Second
)
