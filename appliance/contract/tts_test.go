package contract

import (
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTimestampTypesAreParsedInEveryForm(t *testing.T) {
	both := []TimestampType{TimestampWord, TimestampPhoneme}
	for query, want := range map[string][]TimestampType{
		"include_timestamp_types=word&include_timestamp_types=phoneme":               both,
		"include_timestamp_types%5B0%5D=phoneme&include_timestamp_types%5B1%5D=word": both,
		"include_timestamp_types=word,phoneme":                                       both,
		"include_timestamp_types=%5B%22word%22%5D":                                   {TimestampWord},
		"include_timestamp_types=":                                                   nil,
		"":                                                                           nil,
	} {
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		c, err := ParseTTSConnect(q)
		if err != nil || !reflect.DeepEqual(c.IncludeTimestampTypes, want) || c.InstantMode != nil || c.NoBinary ||
			c.Format != FormatMP3 {
			t.Errorf("%s: %+v, %v", query, c, err)
		}
	}
	for query, want := range map[string]bool{"instant_mode=true": true, "instant_mode=false": false} {
		q, _ := url.ParseQuery(query)
		if c, err := ParseTTSConnect(q); err != nil || c.InstantMode == nil || *c.InstantMode != want {
			t.Errorf("%s: %+v, %v", query, c, err)
		}
	}
	for _, query := range []string{"include_timestamp_types=letter", "format_type=ogg", "version=3",
		"instant_mode=perhaps"} {
		q, _ := url.ParseQuery(query)
		if _, err := ParseTTSConnect(q); err == nil {
			t.Errorf("%s is taken", query)
		}
	}
}

// Duplicates and null entries are dropped.
func TestListsDropDuplicates(t *testing.T) {
	for list, want := range map[string][]TimestampType{
		`["word","word"]`:    {TimestampWord},
		`["phoneme",null]`:   {TimestampPhoneme},
		`[null]`:             {},
		`["phoneme","word"]`: {TimestampPhoneme, TimestampWord},
	} {
		p, err := ParsePostedTTS([]byte(`{"utterances":[{"text":"a"}],"include_timestamp_types":`+list+`}`), false)
		if err != nil || !slices.Equal(p.IncludeTimestampTypes, want) {
			t.Errorf("%s: %v, %v", list, p.IncludeTimestampTypes, err)
		}
	}
	for _, list := range []string{`["letter"]`, `[5]`, `[["word"]]`, `"word"`} {
		if _, err := ParsePostedTTS([]byte(`{"utterances":[{"text":"a"}],"include_timestamp_types":`+list+`}`),
			false); err == nil {
			t.Errorf("%s is taken", list)
		}
	}
}

// Too many utterances are not also reported as missing.
func TestTooManyUtterancesAreOneProblem(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"text":"a"},`, MaxUtterances+1), ",")
	for body, field := range map[string]string{
		`{"utterances":[` + many + `]}`:                                         "utterances",
		`{"utterances":[{"text":"a"}],"context":{"utterances":[` + many + `]}}`: "context.utterances",
	} {
		_, err := ParsePostedTTS([]byte(body), false)
		wrong, ok := errors.AsType[ErrInvalid](err)
		if !ok || wrong.Field != field || wrong.Why != "101 entries; at most 100 are allowed" {
			t.Errorf("%v", err)
		}
	}
}

// A voice of the wrong type is not also reported as missing.
func TestAWrongVoiceIsOneProblem(t *testing.T) {
	for _, voice := range []string{`"joe"`, `[]`, `7`} {
		_, err := ParsePostedTTS([]byte(`{"utterances":[{"text":"Hi.","voice":`+voice+`}]}`), true)
		var malformed ErrMalformed
		if !errors.As(err, &malformed) || len(malformed.Detail) != 1 {
			t.Errorf("%s: %v", voice, err)
		}
	}
}

// Word breaks lines with vertical tabs, and a PDF breaks pages with form feeds.
func TestTextMayHaveAnyWhiteSpace(t *testing.T) {
	for text, fits := range map[string]bool{`a\u000bb`: true, `a\fb`: true, `a\u0085b`: true, `a\r\n\tb`: true,
		`a\u2028b`: true, `a\u0007b`: false, `a\u001bb`: false, `a\u0000b`: false} {
		_, err := ParsePostedTTS([]byte(`{"utterances":[{"text":"`+text+`"}]}`), false)
		if wrong, ok := errors.AsType[ErrInvalid](err); (err == nil) != fits ||
			err != nil && (!ok || wrong.Field != "utterances[0].text") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A generation id of the wrong type is reported once.
func TestAWrongContextIsOneProblem(t *testing.T) {
	for _, id := range []string{`5`, `[]`, `true`, `"x"`} {
		_, err := ParsePostedTTS([]byte(`{"utterances":[{"text":"Hi."}],"context":{"generation_id":`+id+`}}`), false)
		malformed, _ := errors.AsType[ErrMalformed](err)
		if err == nil || len(malformed.Detail) > 1 || strings.Contains(err.Error(), `""`) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func FuzzPostedTTS(f *testing.F) {
	f.Add([]byte(`{"utterances":[{"text":"a","voice":{"name":"b"},"speed":1.5,"trailing_silence":1}],` +
		`"context":{"utterances":[{"text":"c"}]},"format":{"type":"wav"},"version":2}`))
	f.Add([]byte(`{"utterances":[null,{"text":"\ud83d\ude00"}],"num_generations":5,` +
		`"include_timestamp_types":["word"],"instant_mode":null}`))
	f.Add([]byte(`{"text":"cut behind a \`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, stream := range []bool{false, true} {
			p, err := ParsePostedTTS(data, stream)
			if err != nil {
				continue
			}
			if len(p.Utterances) == 0 || p.Format == nil || p.InstantMode == nil || p.NumGenerations < 1 ||
				p.NumGenerations > MaxGenerations {
				t.Fatalf("%s: %+v", data, p)
			}
			if *p.InstantMode && (!stream || p.NumGenerations > 1) {
				t.Fatalf("%s: instant mode", data)
			}
		}
		_, _ = ParsePublishTTS(data)
	})
}
