package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Limits of the socket that analyses media as they come.
const (
	// MaxStreamTextChars bounds a text, as the old service did: some ten minutes of speech.
	MaxStreamTextChars = 10_000
	// MaxStreamMedia bounds a sound or a video: what is longer belongs into a batch job.
	MaxStreamMedia = time.Minute
	// StreamIdleTimeout is how long a client may send nothing. The old service closed after as
	// long, so clients reconnect.
	StreamIdleTimeout = time.Minute
	// MaxPayloadIDChars bounds an id of a client: it is repeated in the answer.
	MaxPayloadIDChars = 512

	// The window of sound that is analysed with a payload, in milliseconds.
	DefaultStreamWindowMS = 5_000
	MinStreamWindowMS     = 500
	MaxStreamWindowMS     = 10_000
)

// StreamCode is the code of an error or a warning of the socket that analyses media.
type StreamCode string

// The codes, with the meanings of the old service.
const (
	StreamNotJSON      StreamCode = "E0100"
	StreamWrongShape   StreamCode = "E0101" // a field is missing, has the wrong type or is not allowed
	StreamIncompatible StreamCode = "E0102" // the model does not apply to the medium
	StreamUnreadable   StreamCode = "E0200" // no known format, or damaged
	StreamNotBase64    StreamCode = "E0201"
	StreamNoSound      StreamCode = "E0202" // a model needs sound and the medium has none
	StreamSoundLong    StreamCode = "E0203"
	StreamVideoLong    StreamCode = "E0204"
	StreamPictureLarge StreamCode = "E0205"
	StreamTextLong     StreamCode = "E0206"

	StreamIdle       StreamCode = "E0714" // nothing came for too long; extensions, as in chats
	StreamKeyRevoked StreamCode = "E0732"
	StreamBusy       StreamCode = "E0741" // too much is being analysed
	StreamInternal   StreamCode = "E0799"

	StreamNoBursts   StreamCode = "W0101"
	StreamNoFacemesh StreamCode = "W0102"
	StreamNoFaces    StreamCode = "W0103"
	StreamNoLanguage StreamCode = "W0104"
	StreamNoSpeech   StreamCode = "W0105"
)

// StreamFault is why a payload cannot be analysed, for its client.
type StreamFault struct {
	Code StreamCode
	Why  string // names the field, the value and what is allowed
}

func (f StreamFault) Error() string { return string(f.Code) + " " + f.Why }

// StreamPayload is a message to the socket that analyses media.
type StreamPayload struct {
	// The medium: a picture, a sound or a video as base64, or a text. ParseStreamPayload
	// decodes base64 into Medium.
	Data string `json:"data,omitempty"`
	// The models; default: those of the message before, and at first all.
	Models *BatchModels `json:"models,omitempty"`
	// How much sound is analysed together with that of the messages before it, in milliseconds.
	StreamWindowMS float64 `json:"stream_window_ms,omitempty"`
	// Forgets the sound of the messages before.
	ResetStream bool `json:"reset_stream,omitempty"`
	// Says that data is a text.
	RawText bool `json:"raw_text,omitempty"`
	// Requests the id of the stream.
	JobDetails bool `json:"job_details,omitempty"`
	// Comes back in the answer.
	PayloadID string `json:"payload_id,omitempty"`

	HasData bool   `json:"-"`
	Medium  []byte `json:"-"` // Data decoded, unless RawText
}

// ParseStreamPayload parses a message to the socket that analyses media. The error is a
// StreamFault; the payload then still has its PayloadID and JobDetails, as far as they can be
// read.
func ParseStreamPayload(data []byte) (StreamPayload, error) {
	if loneSurrogate(data) >= 0 {
		data = dropLoneSurrogates(data)
	}
	if !json.Valid(data) || !utf8.Valid(data) { // notJSON says why, and needs as much memory again
		return StreamPayload{}, StreamFault{StreamNotJSON, capitalized(notJSON(data)) + "."}
	}
	var problems []ValidationError
	o := readObject(nil, data, &problems, false)
	p := readStreamPayload(o)
	raw, there := o.get("data")
	if there && kindOf(raw) != "string" {
		o.wrongType("data", "a string", raw)
	}
	switch {
	case len(problems) > 0:
		return p, StreamFault{StreamWrongShape, faultOf("", problems).Detail}
	case !there && !p.JobDetails && !p.ResetStream:
		return p, StreamFault{StreamWrongShape,
			"data: missing; it is required unless job_details or reset_stream is true"}
	case !there:
		return p, nil
	}
	p.HasData = true
	if p.RawText {
		return p, p.readText(o)
	}
	return p, p.decodeMedium(raw)
}

func (p *StreamPayload) readText(o object) error {
	p.Data = o.text("data", MaxMessageBytes)
	if n := utf8.RuneCountInString(p.Data); n > MaxStreamTextChars {
		return TooLongForStream(n)
	}
	return nil
}

// TooLongForStream is the error for a text of n characters.
func TooLongForStream(n int) StreamFault {
	return StreamFault{StreamTextLong, fmt.Sprintf("data: the text has %d characters; at most %d are allowed: "+
		"POST /v0/batch/jobs takes longer ones", n, MaxStreamTextChars)}
}

// decodeMedium decodes the base64 of a medium, also as browsers write a file as a URL:
// data:image/png;base64,iVBOR…
func (p *StreamPayload) decodeMedium(raw json.RawMessage) (err error) {
	start := bytes.TrimLeft(raw[1:min(len(raw), 64)], " \t\r\n")
	if len(start) > 0 && start[0] == '[' {
		return StreamFault{StreamUnreadable, "data: points of a face mesh are not measured on this box; send the " +
			"picture as base64"}
	}
	if bytes.HasPrefix(start, []byte("data:")) {
		if at := bytes.IndexByte(raw[:min(len(raw), 256)], ','); at > 0 {
			raw = append([]byte{'"'}, raw[at+1:]...)
		}
	}
	p.Medium, err = decodeBase64(raw)
	switch {
	case err != nil:
		return StreamFault{StreamNotBase64, "data: " + err.Error() + "; a text needs \"raw_text\": true"}
	case len(p.Medium) == 0:
		return StreamFault{StreamUnreadable, "data: it is empty"}
	}
	return nil
}

func readStreamPayload(o object) StreamPayload {
	o.expect("data", Shape{Kind: "string", High: bound(MaxMessageBytes)})
	p := StreamPayload{
		Models:         optional(o, "models", readStreamModels),
		StreamWindowMS: deref(o.numberOrNil("stream_window_ms", MinStreamWindowMS, MaxStreamWindowMS)),
		ResetStream:    o.boolean("reset_stream"),
		RawText:        o.boolean("raw_text"),
		JobDetails:     o.boolean("job_details"),
		PayloadID:      o.text("payload_id", MaxPayloadIDChars),
	}
	if p.Models != nil && *p.Models == (BatchModels{}) {
		p.Models = nil
	}
	return p
}

// readStreamModels parses the models of a payload, with the options of a batch job. NER is for
// batch jobs only.
func readStreamModels(o object) BatchModels {
	_ = optional(o, "ner", readBatchNER)
	return BatchModels{
		Face:     optional(o, "face", readBatchFace),
		Burst:    optional(o, "burst", readUnconfigurable),
		Prosody:  optional(o, "prosody", readBatchProsody),
		Language: optional(o, "language", readStreamLanguage),
		Facemesh: optional(o, "facemesh", readUnconfigurable),
	}
}

// byPassage is what the stream calls the whole of a text.
const byPassage Granularity = "passage"

func readStreamLanguage(o object) BatchLanguage {
	granularity := choice(o, "granularity", ByWord, BySentence, ByUtterance, byPassage, ByTurn)
	l := BatchLanguage{
		Granularity:      cmp.Or(granularity, ByWord),
		Sentiment:        optional(o, "sentiment", readUnconfigurable),
		Toxicity:         optional(o, "toxicity", readUnconfigurable),
		IdentifySpeakers: o.boolean("identify_speakers"),
	}
	if granularity == byPassage {
		l.Granularity = ByTurn
	}
	return l
}

// AllStreamModels returns every model of the stream with its default options.
func AllStreamModels() BatchModels {
	all := AllBatchModels()
	all.NER = nil
	return all
}

// StreamPayloads describes the messages to the socket that analyses media.
func StreamPayloads() Body { return shapeOf("StreamPayload", readStreamPayload) }
