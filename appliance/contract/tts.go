package contract

// AudioFormat is the format of sound.
type AudioFormat string

// The formats of sound, at OutputRateHz and mono: MP3, 16-bit little-endian
// samples without a header, and a WAV file of such samples.
const (
	FormatMP3 AudioFormat = "mp3"
	FormatPCM AudioFormat = "pcm"
	FormatWAV AudioFormat = "wav"
)

// TimestampType is which times are sent.
type TimestampType string

// The kinds of times.
const (
	TimestampWord    TimestampType = "word"
	TimestampPhoneme TimestampType = "phoneme"
)

// OctaveVersion is a generation of speech models, as clients know them. The box
// uses the same engine for both; the second requires a voice.
type OctaveVersion string

// The versions.
const (
	Octave1 OctaveVersion = "1"
	Octave2 OctaveVersion = "2"
)

// PostedTTS requests speech.
type PostedTTS struct {
	// The texts to speak, in order.
	Utterances []PostedUtterance `json:"utterances"`
	// Earlier speech. It is not spoken; the new speech continues in its voice
	// and style.
	Context *PostedTTSContext `json:"context,omitempty"`
	// The format of the sound; default: mp3.
	Format *Format `json:"format,omitempty"`
	// Requests the times of words, of phonemes, or of both.
	IncludeTimestampTypes []TimestampType `json:"include_timestamp_types,omitempty"`
	// How many candidates are made; default: 1.
	NumGenerations int `json:"num_generations,omitempty"`
	// Splits utterances into snippets at natural places (the default); false
	// makes one snippet of each utterance.
	SplitUtterances *bool `json:"split_utterances,omitempty"`
	// Makes the chunks of a generation one file when joined; otherwise each chunk
	// is a file.
	StripHeaders bool `json:"strip_headers,omitempty"`
	// Version 2 requires a voice.
	Version OctaveVersion `json:"version,omitempty"`
	// Sends sound as it is made. Only for streams, where it is the default; it
	// requires a voice and makes one generation.
	InstantMode *bool `json:"instant_mode,omitempty"`
	// How much the speech varies, 0 to 1. Default: 0 for the first generation and
	// 0.75 for the others.
	Temperature *float64 `json:"temperature,omitempty"`
}

// PostedUtterance is a text and how to speak it.
type PostedUtterance struct {
	Text string `json:"text"`
	// How a voice is to speak or, if none is named, which voice to design.
	Description string `json:"description,omitempty"`
	// The speed; 1 is the voice's natural one.
	Speed float64 `json:"speed,omitempty"`
	// The silence after the utterance, in seconds.
	TrailingSilence float64 `json:"trailing_silence,omitempty"`
	// The voice, also of the utterances that follow.
	Voice *VoiceRef `json:"voice,omitempty"`
}

// PostedTTSContext has one of the two fields.
type PostedTTSContext struct {
	// A generation of the account.
	GenerationID string `json:"generation_id,omitempty"`
	// Utterances that count as said.
	Utterances []PostedUtterance `json:"utterances,omitempty"`
}

// Format is the format of sound.
type Format struct {
	Type AudioFormat `json:"type"`
}

// PublishTTS is a message to the socket that speaks text as it arrives.
type PublishTTS struct {
	// The text; each sentence is spoken once it is complete.
	Text string `json:"text,omitempty"`
	// As in a PostedUtterance, for the text of this message; a voice also applies
	// to later messages.
	Description     string    `json:"description,omitempty"`
	Speed           float64   `json:"speed,omitempty"`
	TrailingSilence float64   `json:"trailing_silence,omitempty"`
	Voice           *VoiceRef `json:"voice,omitempty"`
	// Speaks all text received so far, complete sentences or not.
	Flush bool `json:"flush,omitempty"`
	// Flushes, and then closes the socket.
	Close bool `json:"close,omitempty"`
}

// TTSConnect is the query that opens the socket that speaks text as it arrives.
type TTSConnect struct {
	InstantMode           *bool // nil: true if there is a voice, false if one is designed
	NoBinary              bool
	StripHeaders          bool
	Format                AudioFormat
	IncludeTimestampTypes []TimestampType
	Version               OctaveVersion
	ContextGenerationID   string
	Temperature           *float64 // 0 to 1; nil: no variation
}

// ReturnTTS is the speech for a PostedTTS.
type ReturnTTS struct {
	Generations []ReturnGeneration `json:"generations"`
	RequestID   string             `json:"request_id,omitempty"`
}

// ReturnGeneration is one candidate.
type ReturnGeneration struct {
	Audio        []byte        `json:"audio"` // a complete file, base64
	Duration     float64       `json:"duration"`
	Encoding     AudioEncoding `json:"encoding"`
	FileSize     int           `json:"file_size"` // bytes of the file
	GenerationID string        `json:"generation_id"`
	Snippets     [][]Snippet   `json:"snippets"` // one list for each utterance
}

// AudioEncoding is the format and rate of the sound.
type AudioEncoding struct {
	Format     AudioFormat `json:"format"`
	SampleRate int         `json:"sample_rate"` // Hz
}

// Snippet is a part of an utterance that is spoken in one go.
type Snippet struct {
	Audio        []byte `json:"audio"` // base64
	GenerationID string `json:"generation_id"`
	ID           string `json:"id"`
	Text         string `json:"text"`
	// The requested times, in the order in which they begin.
	Timestamps []Timestamp `json:"timestamps"`
	// What the box's transcriber recognized in the sound; absent in instant mode.
	TranscribedText *string `json:"transcribed_text,omitempty"`
	UtteranceIndex  int     `json:"utterance_index"`
}

// Timestamp is when a word, as written, or a phoneme is heard, in ms since the
// beginning of its generation. A phoneme is one sound in the IPA: a diphthong or
// an affricate is one, a length mark belongs to its vowel, and stress is omitted.
type Timestamp struct {
	Text string              `json:"text"`
	Time MillisecondInterval `json:"time"`
	Type TimestampType       `json:"type"`
}

// A TTSMessage is a message of a stream of speech.
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
	// What the box's transcriber recognized in the snippet; absent in instant mode.
	TranscribedText *string `json:"transcribed_text,omitempty"`
	UtteranceIndex  int     `json:"utterance_index"`
	// Code, Error, Slug and Message are set for an error on a socket only. Error and
	// Slug are the code in words.
	Code    Code   `json:"code,omitempty"`
	Error   string `json:"error,omitempty"`
	Slug    string `json:"slug,omitempty"`
	Message string `json:"message,omitempty"`
}

// Chunk returns an error as a chunk without sound, for the socket that speaks
// text. Published clients expect chunks and times only, and throw on other
// messages.
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

// TimestampMessage is when a word or a phoneme of a snippet is heard. It follows
// the chunk that contains its end.
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
