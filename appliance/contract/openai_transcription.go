package contract

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MaxOpenAIRecording bounds a recording of POST /v1/audio/transcriptions: a working day is batch work.
const MaxOpenAIRecording = 6 * time.Hour

// OpenAITextFormat is a format of transcripts.
type OpenAITextFormat string

// The formats: JSON with the text, the text, subtitles, and JSON with times.
const (
	OpenAIJSON        OpenAITextFormat = "json"
	OpenAIText        OpenAITextFormat = "text"
	OpenAISRT         OpenAITextFormat = "srt"
	OpenAIVerboseJSON OpenAITextFormat = "verbose_json"
	OpenAIVTT         OpenAITextFormat = "vtt"
)

// OpenAIGranularity is which times a transcript has.
type OpenAIGranularity string

// The granularities.
const (
	OpenAIWords    OpenAIGranularity = "word"
	OpenAISegments OpenAIGranularity = "segment"
)

// PostedOpenAITranscription requests the transcript of a recording, which is sent with it.
type PostedOpenAITranscription struct {
	// One of GET /v1/models that transcribes, such as whisper-1.
	Model string `json:"model"`
	// The language of the recording in ISO 639-1, such as en; default: it is detected.
	Language string `json:"language,omitempty"`
	// Ignored.
	Prompt string `json:"prompt,omitempty"`
	// Ignored.
	Temperature float64 `json:"temperature,omitempty"`
	// Default: json. With stream, only json.
	ResponseFormat OpenAITextFormat `json:"response_format,omitempty"`
	// For verbose_json; default: segment.
	TimestampGranularities []OpenAIGranularity `json:"timestamp_granularities,omitempty"`
	// Sends each part of the transcript when it is known, as server-sent events.
	Stream bool `json:"stream,omitempty"`
}

// Wants reports whether the request asks for these times.
func (p PostedOpenAITranscription) Wants(g OpenAIGranularity) bool {
	return slices.Contains(p.TimestampGranularities, g)
}

// transcriptionFields are the fields of a request for a transcript, besides the recording.
func transcriptionFields() []string {
	return []string{"model", "language", "prompt", "temperature", "response_format", "timestamp_granularities",
		"stream", "include", "chunking_strategy", "known_speaker_names", "known_speaker_references"}
}

// ParsePostedOpenAITranscription parses the parts of a form, by name without brackets, except the recording. A part is
// plain text; lists are several parts. Empty parts count as absent.
func ParsePostedOpenAITranscription(parts map[string][][]byte) (PostedOpenAITranscription, error) {
	fields := map[string]any{}
	for name, all := range parts {
		var texts []string
		for _, part := range all {
			if part = bytes.TrimSpace(part); len(part) > 0 {
				texts = append(texts, string(part))
			}
		}
		switch {
		case len(texts) == 0:
		case slices.Contains([]string{"timestamp_granularities", "include", "known_speaker_names",
			"known_speaker_references"}, name):
			fields[name] = texts
		default:
			fields[name] = texts[len(texts)-1]
		}
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return PostedOpenAITranscription{}, err
	}
	return parseBody(body, readPostedOpenAITranscription)
}

func readPostedOpenAITranscription(o object) PostedOpenAITranscription {
	o.untyped = true // all fields of a form are texts
	o.require("model")
	o.refuseOthers(transcriptionFields()...)
	p := PostedOpenAITranscription{
		Model:       o.nonBlank("model", MaxOpenAIModelChars),
		Language:    strings.ToLower(o.text("language", MaxModelResourceChars)),
		Prompt:      o.text("prompt", MaxPromptChars),
		Temperature: deref(o.numberOrNil("temperature", 0, 1)),
		ResponseFormat: choice(o, "response_format", OpenAIJSON, OpenAIText, OpenAISRT, OpenAIVerboseJSON,
			OpenAIVTT),
		TimestampGranularities: choices(o, "timestamp_granularities", OpenAIWords, OpenAISegments),
		Stream:                 o.boolean("stream"),
	}
	o.refuse("include", "the box has no log probabilities of tokens")
	o.refuse("known_speaker_names", "jobs of POST /v0/batch/jobs tell speakers apart")
	o.refuse("known_speaker_references", "jobs of POST /v0/batch/jobs tell speakers apart")
	if p.Language != "" && !languageTag.MatchString(p.Language) {
		o.note("language", "wrong_value", excerpt([]byte(p.Language))+" is not allowed; expected ISO 639-1, such as en")
	}
	if p.ResponseFormat == "" {
		p.ResponseFormat = OpenAIJSON
	}
	if p.Stream && p.ResponseFormat != OpenAIJSON {
		o.note("response_format", "wrong_value",
			string(p.ResponseFormat)+" is not sent as a stream: leave stream out, or ask for json")
	}
	if len(p.TimestampGranularities) > 0 && p.ResponseFormat != OpenAIVerboseJSON {
		o.note("timestamp_granularities", "wrong_value",
			"only verbose_json has times: set response_format to verbose_json, or leave this out")
	}
	if p.TimestampGranularities == nil {
		p.TimestampGranularities = []OpenAIGranularity{OpenAISegments}
	}
	return p
}

var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[a-z0-9]{2,8})?$`)

// OpenAITranscript is a transcript in the format json.
type OpenAITranscript struct {
	Text  string              `json:"text"`
	Usage OpenAISecondsOfWork `json:"usage"`
}

// OpenAISecondsOfWork says how much sound was transcribed.
type OpenAISecondsOfWork struct {
	Type    string `json:"type"` // duration
	Seconds int    `json:"seconds"`
}

// OpenAIVerboseTranscript is a transcript in the format verbose_json.
type OpenAIVerboseTranscript struct {
	Task     string              `json:"task"`     // transcribe
	Language string              `json:"language"` // its English name, in lower case
	Duration float64             `json:"duration"` // seconds
	Text     string              `json:"text"`
	Segments []OpenAISegment     `json:"segments,omitzero"`
	Words    []OpenAIWord        `json:"words,omitzero"`
	Usage    OpenAISecondsOfWork `json:"usage"`
}

// OpenAISegment is a stretch of speech between two pauses. Times are in seconds.
type OpenAISegment struct {
	ID    int     `json:"id"`
	Seek  int     `json:"seek"` // hundredths of a second at which it begins
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	// Empty: the tokens of the box's transcribers have no meaning to others.
	Tokens      []int   `json:"tokens"`
	Temperature float64 `json:"temperature"` // 0: the box takes the likeliest words
	// The natural logarithm of the confidence, which is measured if words are asked for; otherwise 0.
	AvgLogprob       float64 `json:"avg_logprob"`
	CompressionRatio float64 `json:"compression_ratio"` // 1: not measured
	NoSpeechProb     float64 `json:"no_speech_prob"`    // 0: stretches without speech are left out
}

// OpenAIWord is a word and when it is heard, in seconds.
type OpenAIWord struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// TranscriptTextDelta is an event with the next part of a transcript.
type TranscriptTextDelta struct {
	Type  typeOf[TranscriptTextDelta] `json:"type"`
	Delta string                      `json:"delta"`
}

// TranscriptTextDone is the last event of a transcript.
type TranscriptTextDone struct {
	Type  typeOf[TranscriptTextDone] `json:"type"`
	Text  string                     `json:"text"`
	Usage OpenAISecondsOfWork        `json:"usage"`
}

// MessageType is the value of "type" on the wire.
func (TranscriptTextDelta) MessageType() string { return "transcript.text.delta" }

// MessageType is the value of "type" on the wire.
func (TranscriptTextDone) MessageType() string { return "transcript.text.done" }
