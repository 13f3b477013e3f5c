package contract

import (
	"bytes"
	"encoding/json"
	"time"
)

// MaxConversion is how long a recording may be that is said by another voice: as
// long as the longest text, 5,000 characters, takes.
const MaxConversion = 5 * time.Minute

// PostedConversion asks for a recording to be said by another voice; the
// recording comes beside it.
type PostedConversion struct {
	// Voice that says it; where it is absent, that of the context, or the box's own.
	Voice *VoiceRef `json:"voice,omitempty"`
	// Context is what was said before: what is said goes on with its voice.
	Context *PostedTTSContext `json:"context,omitempty"`
	// Format of the sound; mp3 where it is absent.
	Format *Format `json:"format,omitempty"`
	// StripHeaders makes one file of the chunks, joined; otherwise each is one.
	StripHeaders bool `json:"strip_headers,omitempty"`
	// IncludeTimestampTypes asks for the times of words, of phonemes, or of both.
	IncludeTimestampTypes []TimestampType `json:"include_timestamp_types,omitempty"`
}

// ParsePostedConversion reads the parts of a form, by their names, besides the
// recording. Parts hold JSON; include_timestamp_types may also come as several
// parts, a plain word each. Parts that are empty or null are absent.
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

// timestampParts makes one JSON list of all parts; nil where there is nothing in
// them.
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
