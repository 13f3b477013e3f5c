package contract

import (
	"bytes"
	"encoding/json"
	"time"
)

// MaxConversion bounds a recording that is converted to another voice: as long as
// the longest text, 5,000 characters, takes.
const MaxConversion = 5 * time.Minute

// PostedConversion requests that a recording, sent with it, is spoken by another
// voice.
type PostedConversion struct {
	// The voice; default: that of the context, or of the box.
	Voice *VoiceRef `json:"voice,omitempty"`
	// Earlier speech; the new speech continues in its voice.
	Context *PostedTTSContext `json:"context,omitempty"`
	// The format of the sound; default: mp3.
	Format *Format `json:"format,omitempty"`
	// Makes the chunks one file when joined; otherwise each chunk is a file.
	StripHeaders bool `json:"strip_headers,omitempty"`
	// Requests the times of words, of phonemes, or of both.
	IncludeTimestampTypes []TimestampType `json:"include_timestamp_types,omitempty"`
}

// ParsePostedConversion parses the parts of a form, by name, except the
// recording. Parts contain JSON; include_timestamp_types may also be several
// parts with a plain word each. Empty or null parts count as absent.
func ParsePostedConversion(parts map[string][][]byte) (PostedConversion, error) {
	fields := map[string]json.RawMessage{}
	var problems []ValidationError
	for _, name := range []string{"voice", "context", "format", "strip_headers"} {
		for _, part := range parts[name] { // the last one counts
			if part = bytes.TrimSpace(part); len(part) == 0 {
				continue
			}
			if name == "strip_headers" && !json.Valid(part) { // True, as other languages write it
				part = quoted(part)
			}
			if why := notJSON(part); why != "" {
				problems = append(problems, ValidationError{Loc: []any{name}, Type: "malformed", Msg: why})
				continue
			}
			fields[name] = part
		}
	}
	if len(problems) > 0 {
		return PostedConversion{}, malformed(problems)
	}
	if types := timestampParts(parts["include_timestamp_types"]); types != nil {
		fields["include_timestamp_types"] = types
	}
	body, err := json.Marshal(fields)
	if err != nil {
		return PostedConversion{}, err
	}
	return parseBody(body, readPostedConversion)
}

func readPostedConversion(o object) PostedConversion {
	o.untyped = true // strip_headers is written in many ways
	flag := o.boolean("strip_headers")
	o.untyped = false
	return PostedConversion{
		Voice:                 optional(o, "voice", readVoiceRef),
		Context:               optional(o, "context", readTTSContext),
		Format:                readFormat(o),
		StripHeaders:          flag,
		IncludeTimestampTypes: choices(o, "include_timestamp_types", TimestampWord, TimestampPhoneme),
	}
}

// timestampParts returns one JSON list of all parts; nil if they are empty.
func timestampParts(parts [][]byte) json.RawMessage {
	var all []json.RawMessage
	for _, part := range parts {
		part = bytes.TrimSpace(part)
		var list []json.RawMessage
		var word string
		switch {
		case len(part) == 0 || string(part) == "null":
		case json.Unmarshal(part, &list) == nil:
			all = append(all, list...)
		case json.Unmarshal(part, &word) == nil:
			all = append(all, part)
		default:
			all = append(all, quoted(part))
		}
	}
	if all == nil {
		return nil
	}
	made, _ := json.Marshal(all) // each was JSON
	return made
}

func quoted(part []byte) []byte {
	text, _ := json.Marshal(string(part)) // a string always can be
	return text
}
