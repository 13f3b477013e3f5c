package contract

import "unicode/utf8"

// OpenAISoundFormat is a format of POST /v1/audio/speech.
type OpenAISoundFormat string

// The formats: MP3, Opus in Ogg, AAC in ADTS, FLAC, WAV, and 16-bit little-endian samples without a header, each mono
// at OpenAIRateHz.
const (
	OpenAIMP3  OpenAISoundFormat = "mp3"
	OpenAIOpus OpenAISoundFormat = "opus"
	OpenAIAAC  OpenAISoundFormat = "aac"
	OpenAIFLAC OpenAISoundFormat = "flac"
	OpenAIWAV  OpenAISoundFormat = "wav"
	OpenAIPCM  OpenAISoundFormat = "pcm"
)

func openAISoundFormats() []OpenAISoundFormat {
	return []OpenAISoundFormat{OpenAIMP3, OpenAIOpus, OpenAIAAC, OpenAIFLAC, OpenAIWAV, OpenAIPCM}
}

// OpenAIRateHz is the sample rate of speech below /v1, as clients that play pcm expect.
const OpenAIRateHz = 24000

// OpenAIStreamFormat is how speech is sent.
type OpenAIStreamFormat string

// The ways: the bytes of the file, or server-sent events with parts of it.
const (
	OpenAIStreamAudio OpenAIStreamFormat = "audio"
	OpenAIStreamSSE   OpenAIStreamFormat = "sse"
)

// MaxOpenAISpeed is the highest speed at which voices can be understood at all; OpenAI's own is 4.
const MinOpenAISpeed, MaxOpenAISpeed = MinSocketSpeed, MaxSocketSpeed

// PostedOpenAISpeech requests speech.
type PostedOpenAISpeech struct {
	// One of GET /v1/models that speaks, such as tts-1.
	Model string `json:"model"`
	// The text to speak.
	Input string `json:"input"`
	// A voice of the box or of the account, by name or id, or one of OpenAI's names; also an object with its id.
	Voice string `json:"voice"`
	// How to speak.
	Instructions string `json:"instructions,omitempty"`
	// Default: mp3.
	ResponseFormat OpenAISoundFormat `json:"response_format,omitempty"`
	// Default: 1.
	Speed float64 `json:"speed,omitempty"`
	// Default: audio.
	StreamFormat OpenAIStreamFormat `json:"stream_format,omitempty"`
}

func (PostedOpenAISpeech) read(o object) PostedOpenAISpeech {
	o.require("model", "input", "voice")
	o.refuseOthers("model", "input", "voice", "instructions", "response_format", "speed", "stream_format")
	p := PostedOpenAISpeech{
		Model:          o.nonBlank("model", MaxOpenAIModelChars),
		Input:          o.nonBlank("input", MaxSpokenChars),
		Voice:          readOpenAIVoice(o),
		Instructions:   o.multiline("instructions", MaxDescriptionChars),
		ResponseFormat: choice(o, "response_format", openAISoundFormats()...),
		Speed:          *orDefault(o.numberOrNil("speed", MinOpenAISpeed, MaxOpenAISpeed), 1),
		StreamFormat:   choice(o, "stream_format", OpenAIStreamAudio, OpenAIStreamSSE),
	}
	o.noteFirst("input", p.Input, "has the control character %U", isControlInText)
	if p.ResponseFormat == "" {
		p.ResponseFormat = OpenAIMP3
	}
	return p
}

// readOpenAIVoice parses a name, or an object with an id.
func readOpenAIVoice(o object) string {
	const name = "voice"
	if raw, ok := o.get(name); ok && kindOf(raw) == "object" {
		v, _ := o.object(name)
		v.require("id")
		return v.nonBlank("id", MaxModelResourceChars)
	}
	return o.nonBlank(name, MaxModelResourceChars)
}

// Utterance returns the request as speech requests of the box have it, spoken by a voice.
func (p PostedOpenAISpeech) Utterance(by VoiceRef) PostedTTS {
	instant := true
	return PostedTTS{
		Utterances: []PostedUtterance{{
			Text:        p.Input,
			Description: p.Instructions,
			Speed:       p.Speed,
			Voice:       &by,
		}},
		Format:         &Format{FormatPCM},
		NumGenerations: 1,
		InstantMode:    &instant,
	}
}

// SpeechAudioDelta is an event with a part of the file.
type SpeechAudioDelta struct {
	Type  typeOf[SpeechAudioDelta] `json:"type"`
	Audio []byte                   `json:"audio"` // base64
}

// SpeechAudioDone is the last event of speech.
type SpeechAudioDone struct {
	Type  typeOf[SpeechAudioDone] `json:"type"`
	Usage OpenAIUsage             `json:"usage"`
}

// MessageType is the value of "type" on the wire.
func (SpeechAudioDelta) MessageType() string { return "speech.audio.delta" }

// MessageType is the value of "type" on the wire.
func (SpeechAudioDone) MessageType() string { return "speech.audio.done" }

// OpenAIUsage counts what speech took: characters of the text, and tenths of a second of sound.
type OpenAIUsage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

// Usage returns what the speech of p took; samples are at OpenAIRateHz.
func (p PostedOpenAISpeech) Usage(samples int) OpenAIUsage {
	in, out := utf8.RuneCountInString(p.Input), samples*10/OpenAIRateHz
	return OpenAIUsage{InputTokens: in, OutputTokens: out, TotalTokens: in + out}
}
