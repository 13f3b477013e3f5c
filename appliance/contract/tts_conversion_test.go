package contract

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestFormsOfAllClientsAreParsed(t *testing.T) {
	part := func(texts ...string) [][]byte {
		var all [][]byte
		for _, s := range texts {
			all = append(all, []byte(s))
		}
		return all
	}
	joe := &VoiceRef{Name: "joe"}
	for name, c := range map[string]struct {
		parts map[string][][]byte
		want  PostedConversion
	}{
		"nothing": {nil, PostedConversion{Format: &Format{FormatMP3}}},
		"nulls": {map[string][][]byte{"voice": part("null"), "context": part("null"), "format": part("null"),
			"strip_headers": part("null"), "include_timestamp_types": part("null")},
			PostedConversion{Format: &Format{FormatMP3}}},
		"empty parts": {map[string][][]byte{"voice": part(""), "strip_headers": part(" "),
			"include_timestamp_types": part("")}, PostedConversion{Format: &Format{FormatMP3}}},
		"JSON": {map[string][][]byte{"voice": part(`{"name":"joe"}`), "format": part(`{"type":"wav"}`),
			"strip_headers": part("true")},
			PostedConversion{Voice: joe, Format: &Format{FormatWAV}, StripHeaders: true}},
		"True": {map[string][][]byte{"strip_headers": part("True")},
			PostedConversion{Format: &Format{FormatMP3}, StripHeaders: true}},
		"one word": {map[string][][]byte{"include_timestamp_types": part("word")},
			PostedConversion{Format: &Format{FormatMP3}, IncludeTimestampTypes: []TimestampType{TimestampWord}}},
		"words repeated": {map[string][][]byte{"include_timestamp_types": part("word", "phoneme")},
			PostedConversion{Format: &Format{FormatMP3},
				IncludeTimestampTypes: []TimestampType{TimestampWord, TimestampPhoneme}}},
		"a list": {map[string][][]byte{"include_timestamp_types": part(`["phoneme"]`)},
			PostedConversion{Format: &Format{FormatMP3}, IncludeTimestampTypes: []TimestampType{TimestampPhoneme}}},
		"an empty list": {map[string][][]byte{"include_timestamp_types": part(`[]`)},
			PostedConversion{Format: &Format{FormatMP3}}},
		"unknown fields": {map[string][][]byte{"colour": part("blue")}, PostedConversion{Format: &Format{FormatMP3}}},
		"the last counts": {map[string][][]byte{"strip_headers": part("true", "false")},
			PostedConversion{Format: &Format{FormatMP3}}},
	} {
		got, err := ParsePostedConversion(c.parts)
		if got.Voice != nil { // what is asked for is the name
			got.Voice = &VoiceRef{ID: got.Voice.ID, Name: got.Voice.Name}
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

func TestFormErrorsNameThePart(t *testing.T) {
	for field, text := range map[string]string{"voice": "{joe", "format": `"wav"`, "context": "[]",
		"strip_headers": "perhaps", "include_timestamp_types": "sentence"} {
		_, err := ParsePostedConversion(map[string][][]byte{field: {[]byte(text)}})
		malformed, ok := errors.AsType[ErrMalformed](err)
		invalid, ok2 := errors.AsType[ErrInvalid](err)
		switch {
		case ok && len(malformed.Detail[0].Loc) > 1 && malformed.Detail[0].Loc[1] == field:
		case ok2 && strings.HasPrefix(invalid.Field, field):
		default:
			t.Errorf("%s: %s is answered with %v", field, text, err)
		}
	}
}
