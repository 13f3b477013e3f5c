package contract

// AudioFormat is how sound is written for a client.
type AudioFormat string

// The formats of sound, at OutputRateHz and mono: MP3, 16-bit little-endian
// samples without a header, and a WAV file of such samples.
const (
	FormatMP3 AudioFormat = "mp3"
	FormatPCM AudioFormat = "pcm"
	FormatWAV AudioFormat = "wav"
)

// TimestampType says of what the times are told.
type TimestampType string

// What the times may be told of.
const (
	TimestampWord    TimestampType = "word"
	TimestampPhoneme TimestampType = "phoneme"
)

// OctaveVersion names a generation of speech models, as clients know them. What
// speaks here is the same for both; the second asks for a voice.
type OctaveVersion string

// The versions.
const (
	Octave1 OctaveVersion = "1"
	Octave2 OctaveVersion = "2"
)

// PostedTTS asks for texts to be spoken.
type PostedTTS struct {
	// Utterances are what is to be said, in order.
	Utterances []PostedUtterance `json:"utterances"`
	// Context is what was said before: it is not spoken, but what is spoken goes
	// on with its voice and its style.
	Context *PostedTTSContext `json:"context,omitempty"`
	// Format of the sound; mp3 where it is absent.
	Format *Format `json:"format,omitempty"`
	// IncludeTimestampTypes asks for the times of words, of phonemes, or of both.
	IncludeTimestampTypes []TimestampType `json:"include_timestamp_types,omitempty"`
	// NumGenerations is how many candidates are made; 1 where it is absent.
	NumGenerations int `json:"num_generations,omitempty"`
	// SplitUtterances cuts utterances into snippets at natural places, true where
	// it is absent; false makes one snippet of each utterance.
	SplitUtterances *bool `json:"split_utterances,omitempty"`
	// StripHeaders makes one file of the chunks of a generation, joined; otherwise
	// each chunk is a file.
	StripHeaders bool `json:"strip_headers,omitempty"`
	// Version 2 needs a voice.
	Version OctaveVersion `json:"version,omitempty"`
	// InstantMode sends sound as it is made. It is for streams only, where it holds
	// unless it is false, needs a voice, and makes one generation.
	InstantMode *bool `json:"instant_mode,omitempty"`
	// Temperature is how much is left to chance, 0 to 1. Where it is absent, that is
	// nothing for the first generation, and 0.75 for the others.
	Temperature *float64 `json:"temperature,omitempty"`
}

// PostedUtterance is a text and how it is to be said.
type PostedUtterance struct {
	Text string `json:"text"`
	// Description says how a voice is to speak or, where none is named, which voice
	// is to be made.
	Description string `json:"description,omitempty"`
	// Speed is how fast it is said, 1 being the voice's own.
	Speed float64 `json:"speed,omitempty"`
	// TrailingSilence is put behind the utterance, in seconds.
	TrailingSilence float64 `json:"trailing_silence,omitempty"`
	// Voice holds for the utterances that follow, too.
	Voice *VoiceRef `json:"voice,omitempty"`
}

// PostedTTSContext is one of the two.
type PostedTTSContext struct {
	// GenerationID of the account.
	GenerationID string `json:"generation_id,omitempty"`
	// Utterances that count as said.
	Utterances []PostedUtterance `json:"utterances,omitempty"`
}

// Format of sound.
type Format struct {
	Type AudioFormat `json:"type"`
}

// PublishTTS is a message to a socket that speaks what it is sent.
type PublishTTS struct {
	// Text is spoken sentence by sentence, as soon as one is whole.
	Text string `json:"text,omitempty"`
	// Description, Speed, TrailingSilence and Voice are as in a PostedUtterance,
	// and hold for the text of this message; the voice for what follows, too.
	Description     string    `json:"description,omitempty"`
	Speed           float64   `json:"speed,omitempty"`
	TrailingSilence float64   `json:"trailing_silence,omitempty"`
	Voice           *VoiceRef `json:"voice,omitempty"`
	// Flush has all text spoken that has come, whole sentences or not.
	Flush bool `json:"flush,omitempty"`
	// Close flushes, and then closes the socket.
	Close bool `json:"close,omitempty"`
}

// TTSConnect is the query that opens such a socket.
type TTSConnect struct {
	InstantMode           *bool // nil: on where there is a voice, off where one is made
	NoBinary              bool
	StripHeaders          bool
	Format                AudioFormat
	IncludeTimestampTypes []TimestampType
	Version               OctaveVersion
	ContextGenerationID   string
	Temperature           *float64 // 0 to 1; nil: nothing is left to chance
}

// ReturnTTS is what was made of a PostedTTS.
type ReturnTTS struct {
	Generations []ReturnGeneration `json:"generations"`
	RequestID   string             `json:"request_id,omitempty"`
}

// ReturnGeneration is one candidate.
type ReturnGeneration struct {
	Audio        []byte        `json:"audio"` // a whole file, base64
	Duration     float64       `json:"duration"`
	Encoding     AudioEncoding `json:"encoding"`
	FileSize     int           `json:"file_size"` // bytes of the file
	GenerationID string        `json:"generation_id"`
	Snippets     [][]Snippet   `json:"snippets"` // a list for each utterance
}

// AudioEncoding says how the sound is written.
type AudioEncoding struct {
	Format     AudioFormat `json:"format"`
	SampleRate int         `json:"sample_rate"` // Hz
}

// Snippet is a part of an utterance that was spoken in one go.
type Snippet struct {
	Audio        []byte `json:"audio"` // base64
	GenerationID string `json:"generation_id"`
	ID           string `json:"id"`
	Text         string `json:"text"`
	// Timestamps are of the types that were asked for, in the order in which they begin.
	Timestamps []Timestamp `json:"timestamps"`
	// TranscribedText is what the box's own ear heard in the sound; absent in
	// instant mode.
	TranscribedText *string `json:"transcribed_text,omitempty"`
	UtteranceIndex  int     `json:"utterance_index"`
}

// Timestamp says when a word, as it is written, or a phoneme is heard, in ms since
// the beginning of its generation. A phoneme is one sound in the IPA: a diphthong or
// an affricate is one, a mark of length belongs to its vowel, and stress is left out.
type Timestamp struct {
	Text string              `json:"text"`
	Time MillisecondInterval `json:"time"`
	Type TimestampType       `json:"type"`
}

// A TTSMessage is what a stream of speech is made of.
type TTSMessage interface {
	// MessageType is the value of "type" on the wire.
	MessageType() string
}

// SnippetAudioChunk is a piece of the sound of a snippet.
type SnippetAudioChunk struct {
	Type         typeOf[SnippetAudioChunk] `json:"type"`
	Audio        []byte                    `json:"audio"` // base64
	AudioFormat  AudioFormat               `json:"audio_format"`
	ChunkIndex   int                       `json:"chunk_index"` // counts the chunks of the snippet from 0
	GenerationID string                    `json:"generation_id"`
	IsLastChunk  bool                      `json:"is_last_chunk"` // of the snippet
	RequestID    string                    `json:"request_id"`
	SnippetID    string                    `json:"snippet_id"`
	Text         string                    `json:"text"` // of the snippet
	// TranscribedText is what the box's own ear heard in the snippet; absent in
	// instant mode.
	TranscribedText *string `json:"transcribed_text,omitempty"`
	UtteranceIndex  int     `json:"utterance_index"`
	// Code, Error, Slug and Message are of an error on a socket, and absent from what
	// is spoken. Error and Slug are the code in words.
	Code    Code   `json:"code,omitempty"`
	Error   string `json:"error,omitempty"`
	Slug    string `json:"slug,omitempty"`
	Message string `json:"message,omitempty"`
}

// Chunk is an error as a socket that speaks tells it: a chunk without sound, since
// the published clients take chunks and times alone for messages and throw at others.
func (m WebSocketError) Chunk(format AudioFormat) SnippetAudioChunk {
	return SnippetAudioChunk{
		Audio:       []byte{},
		AudioFormat: format,
		IsLastChunk: true,
		RequestID:   m.RequestID,
		Code:        m.Code,
		Error:       m.Slug,
		Slug:        m.Slug,
		Message:     m.Message,
	}
}

// TimestampMessage says when a word or a phoneme of a snippet is heard. It comes
// behind the chunk in which that ends.
type TimestampMessage struct {
	Type         typeOf[TimestampMessage] `json:"type"`
	GenerationID string                   `json:"generation_id"`
	RequestID    string                   `json:"request_id"`
	SnippetID    string                   `json:"snippet_id"`
	Timestamp    Timestamp                `json:"timestamp"`
}

// MessageType is the value of "type" on the wire.
func (SnippetAudioChunk) MessageType() string { return "audio" }

// MessageType is the value of "type" on the wire.
func (TimestampMessage) MessageType() string { return "timestamp" }
