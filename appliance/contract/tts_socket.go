package contract

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// MaxPublishBytes bounds a message to the socket that speaks text: the longest
// text and description, each character escaped.
const MaxPublishBytes = 128 << 10

// ParsePublishTTS parses a message to the socket that speaks text. The error is a
// Fault. Text that a client cuts between UTF-16 units, as JavaScript counts, may
// end with half of a surrogate pair and continue with the other half; both halves
// are dropped.
func ParsePublishTTS(data []byte) (PublishTTS, error) {
	data = dropLoneSurrogates(data)
	if msg := notJSON(data); msg != "" {
		return PublishTTS{}, Fault{Code: BrokenJSON, Detail: capitalized(msg) + "."}
	}
	var problems []ValidationError
	o := readObject(nil, data, &problems, false)
	m := readPublishTTS(o)
	if len(problems) > 0 {
		return m, faultOf("", problems)
	}
	return m, nil
}

// dropLoneSurrogates removes lone surrogates from JSON.
func dropLoneSurrogates(data []byte) []byte {
	var kept []byte
	for {
		at := loneSurrogate(data)
		if at < 0 {
			return append(kept, data...)
		}
		kept, data = append(kept, data[:at]...), data[at+len(`\ud83d`):]
	}
}

func readPublishTTS(o object) PublishTTS {
	return PublishTTS{
		Text:            o.multiline("text", MaxUtteranceChars),
		Description:     o.multiline("description", MaxDescriptionChars),
		Speed:           deref(o.numberOrNil("speed", MinSocketSpeed, MaxSocketSpeed)),
		TrailingSilence: deref(o.numberOrNil("trailing_silence", 0, MaxTrailingSilence)),
		Voice:           optional(o, "voice", readVoiceRef),
		Flush:           o.boolean("flush"),
		Close:           o.boolean("close"),
	}
}

// PublishedTTS describes the messages to the socket that speaks text.
func PublishedTTS() Body { return shapeOf("PublishTTS", readPublishTTS) }

// ParseTTSConnect parses the query that opens the socket that speaks text. The
// error is a Fault, InvalidConnect, that names the parameter.
func ParseTTSConnect(q url.Values) (TTSConnect, error) {
	fields := map[string]json.RawMessage{}
	for name, values := range q {
		if v := lastValue(values); v != "" { // an empty one is how clients write what they have not set
			fields[name], _ = json.Marshal(v) // a string always can be
		}
	}
	var problems []ValidationError
	o := object{fields: fields, problems: &problems, untyped: true}
	c := readTTSConnect(o)
	c.IncludeTimestampTypes = readTypes(o, q)
	if len(problems) > 0 {
		f := faultOf("connect", problems)
		f.Code = InvalidConnect
		return c, f
	}
	return c, nil
}

func readTTSConnect(o object) TTSConnect {
	c := TTSConnect{
		InstantMode:         o.booleanOrNil("instant_mode"),
		NoBinary:            o.boolean("no_binary"),
		StripHeaders:        o.boolean("strip_headers"),
		Format:              choice(o, "format_type", FormatMP3, FormatPCM, FormatWAV),
		Version:             choice(o, "version", Octave1, Octave2),
		ContextGenerationID: o.text("context_generation_id", MaxModelResourceChars),
		Temperature:         o.numberOrNil("temperature", 0, 1),
	}
	if c.Format == "" {
		c.Format = FormatMP3
	}
	return c
}

// TTSConnectQuery describes the query that opens the socket that speaks text,
// except for its list.
func TTSConnectQuery() Body { return shapeOf("TTSConnect", readTTSConnect) }

// readTypes parses a list in a query as clients write it: the name repeated, with
// [0], with [], with commas, or as a JSON list.
func readTypes(o object, q url.Values) []TimestampType {
	const name = "include_timestamp_types"
	var words []string
	for key, values := range q {
		base, index, _ := strings.Cut(key, "[")
		if base != name || strings.Trim(index, "0123456789]") != "" {
			continue
		}
		for _, v := range values {
			var list []string
			if json.Unmarshal([]byte(v), &list) != nil {
				list = strings.Split(v, ",")
			}
			words = append(words, list...)
		}
	}
	var types []TimestampType
	for _, w := range words {
		switch t := TimestampType(strings.TrimSpace(w)); {
		case t == "":
		case t != TimestampWord && t != TimestampPhoneme:
			o.note(name, "wrong_value",
				fmt.Sprintf("%q is not allowed; allowed: %s, %s", Clip(w), TimestampWord, TimestampPhoneme))
		case !slices.Contains(types, t):
			types = append(types, t)
		}
	}
	slices.Sort(types)
	slices.Reverse(types) // words before phonemes
	return types
}

func lastValue(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

func capitalized(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
