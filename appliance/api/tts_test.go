package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/speech"
	"parley/store"
)

// humVoice is a voice that hums each letter for 10 ms, and a voice for each name but
// "nobody". If perLetter is set, making a letter takes as long.
type humVoice struct{ perLetter time.Duration }

func (h humVoice) Find(_ context.Context, _ string, ref contract.VoiceRef, _ string) (speech.Voice, error) {
	if ref.Name == "nobody" {
		return speech.Voice{}, contract.ErrNotFound{What: "voice", ID: ref.Name}
	}
	return speech.Voice{
		ID:          ref.ID,
		Name:        ref.Name,
		Recipe:      []byte(`{}`),
		Synthesizer: h,
	}, nil
}

func (h humVoice) Design(context.Context, string, int, int64) (speech.Voice, error) {
	return speech.Voice{Recipe: []byte(`{}`), Synthesizer: h}, nil
}

func (h humVoice) FromRecipe(context.Context, json.RawMessage, string) (speech.Voice, error) {
	return speech.Voice{Recipe: []byte(`{}`), Synthesizer: h}, nil
}

func (humVoice) RateHz() int { return 24000 }

func (h humVoice) Speak(ctx context.Context, text string, _ engine.SpeakOptions, emit func(engine.Sound) error) error {
	for i := range text {
		if h.perLetter > 0 {
			time.Sleep(h.perLetter)
		}
		if strings.HasPrefix(text[i:], "broken") {
			return errors.New("the voice broke")
		}
		pcm := make([]float32, 240)
		for k := range pcm {
			pcm[k] = 0.1 * float32(math.Sin(float64(k)*math.Pi/40))
		}
		if err := emit(engine.Sound{PCM: pcm, Last: i == len(text)-1}); err != nil {
			return err
		}
	}
	return nil
}

// newHumService returns a text-to-speech service with such a voice.
func newHumService(h humVoice, records speech.Records) *speech.Service {
	return speech.New(speech.Parts{
		Voices:    h,
		Records:   records,
		Retention: speech.Retention{Newest: 100, Texts: true},
		Log:       slog.New(slog.DiscardHandler),
	})
}

// A long answer is sent as it is made, and cut off if it fails.
func TestSpeechThatFailsIsNotAWholeAnswer(t *testing.T) {
	c := startRest(t, "home")[0]
	status, _, text := c.send("POST", "/v0/tts", "application/json",
		`{"utterances":[{"text":"It is broken."}],"format":{"type":"wav"}}`)
	if status != 500 || strings.Contains(text, "the voice broke") {
		t.Errorf("%d %s", status, text)
	}
	// A long answer is sent as it is made, and cut off.
	long := strings.Repeat("It is. ", 300)
	whole := c.asks("POST", "/v0/tts", `{"utterances":[{"text":"`+long+
		`"},{"text":"It is broken."}],"format":{"type":"wav"}}`)
	defer whole.Body.Close()
	if got, err := io.ReadAll(whole.Body); whole.StatusCode != 200 || err == nil || len(got) < maxBuffered ||
		json.Valid(got) {
		t.Errorf("%d, %d bytes, %v", whole.StatusCode, len(got), err)
	}
	r := c.asks("POST", "/v0/tts/stream/json",
		`{"utterances":[{"text":"It is broken.","voice":{"name":"a"}}],"format":{"type":"pcm"}}`)
	defer r.Body.Close()
	lines := 0
	read := bufio.NewScanner(r.Body)
	for read.Scan() {
		lines++
	}
	if r.StatusCode != 200 || lines != len("It is ") || read.Err() == nil {
		t.Errorf("%d, %d lines, %v", r.StatusCode, lines, read.Err())
	}
}

func TestSpeechEndsWhenItsKeyIsRevoked(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	server := httptest.NewServer(New(Parts{
		Keys:    records,
		Records: records,
		Voices:  library{},
		Aliases: library{},
		Models:  library{},
		Ready:   &fakes{},
		Log:     slog.New(slog.DiscardHandler),
		Speech:  newHumService(humVoice{perLetter: 10 * time.Millisecond}, records),
	}))
	defer server.Close()
	long := strings.Repeat("It goes on and on. ", 250) // 47 s
	for _, does := range []struct {
		path, also string
		begun      bool // when the key is revoked
	}{{"stream/json", `,"voice":{"name":"a"}`, true}, {"stream/file", `,"voice":{"name":"a"}`, true},
		{"file", "", false}} {
		t.Run(does.path, func(t *testing.T) {
			made, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"})
			if err != nil {
				t.Fatal(err)
			}
			revoke := func() {
				if err := records.RevokeKey(context.WithoutCancel(t.Context()), made.KeyID); err != nil {
					t.Error(err)
				}
			}
			if !does.begun {
				time.AfterFunc(100*time.Millisecond, revoke)
			}
			c := client{t: t, http: server, key: made.APIKey}
			begun := time.Now()
			r := c.asks("POST", "/v0/tts/"+does.path,
				`{"utterances":[{"text":"`+long+`"`+does.also+`}],"format":{"type":"pcm"}}`)
			defer r.Body.Close()
			if !does.begun {
				if r.StatusCode != http.StatusUnauthorized {
					t.Errorf("it answers %d", r.StatusCode)
				}
			} else if revoke(); r.StatusCode != http.StatusOK {
				t.Errorf("it answers %d", r.StatusCode)
			} else if _, err := io.Copy(io.Discard, r.Body); err == nil {
				t.Error("the answer ends as if it were whole")
			}
			if took := time.Since(begun); took > 40*time.Second {
				t.Errorf("it went on for %v", took)
			}
		})
	}
}

func TestErrorsOfSpeechNameTheFieldAndWhatIsAllowed(t *testing.T) {
	c := startRest(t, "home")[0]
	long := strings.Repeat("a ", 2501)
	for _, try := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"", `{}`, 422, "utterances"},
		{"", "\ufeff" + `{"utterances":[]}`, 400, "at least one"}, // as Windows editors write it
		{"", `{"utterances":[]}`, 400, "at least one"},
		{"", `{"utterances":[{"text":" \n"}]}`, 400, "utterances[0].text"},
		{"", `{"utterances":[{"text":"😀"}]}`, 400, "utterances[0].text"},
		{"", `{"utterances":[{"text":"` + long + `"}]}`, 400, "at most 5000"},
		{"", `{"utterances":[{"text":"a","description":"` + strings.Repeat("a", 1001) + `"}]}`, 400, "at most 1000"},
		{"", `{"utterances":[{"text":"a","speed":0.4}]}`, 400, "0.5 to 2"},
		{"", `{"utterances":[{"text":"a","speed":"fast"}]}`, 422, "utterances"},
		{"", `{"utterances":[{"text":"a","trailing_silence":5.1}]}`, 400, "0 to 5"},
		{"", `{"utterances":[{"text":"a","voice":{}}]}`, 422, "id or the name"},
		{"", `{"utterances":[{"text":"a","voice":{"name":"nobody"}}]}`, 404, "nobody"},
		{"", `{"utterances":[{"text":"a\u0000"}]}`, 400, "U+0000"},
		{"", `{"utterances":[{"text":"a\ud83d"}]}`, 422, "half of a surrogate pair"},
		{"", `{"utterances":[{"text":"a"}],"num_generations":6}`, 400, "1 to 5"},
		{"", `{"utterances":[{"text":"a"}],"temperature":1.1}`, 400, "0 to 1"},
		{"", `{"utterances":[{"text":"a"}],"format":{"type":"ogg"}}`, 400, "mp3, pcm, wav"},
		{"", `{"utterances":[{"text":"a"}],"version":"3"}`, 400, "1, 2"},
		{"", `{"utterances":[{"text":"a"}],"version":"2"}`, 400, "requires a voice"},
		{"", `{"utterances":[{"text":"a"}],"include_timestamp_types":["letter"]}`, 400, "word, phoneme"},
		{"", `{"utterances":[{"text":"a"}],"context":{}}`, 422, "either generation_id or utterances"},
		{"", `{"utterances":[{"text":"a"}],"context":{"generation_id":"x"}}`, 400, "UUID"},
		{"", `{"utterances":[{"text":"a"}],"instant_mode":true}`, 400, "streams only"},
		{"/file", `{"utterances":[{"text":"a"}],"instant_mode":true}`, 400, "streams only"},
		{"/stream/json", `{"utterances":[{"text":"a"}]}`, 400, "instant_mode to false"},
		{"/stream/file", `{"utterances":[{"text":"a","voice":{"name":"b"}}],"num_generations":2}`, 400,
			"one generation"},
	} {
		status, _, text := c.send("POST", "/v0/tts"+try.path, "application/json", try.body)
		if status != try.status || !strings.Contains(text, try.says) {
			t.Errorf("%s %.80s: %d %s", try.path, try.body, status, text)
		}
	}
}

// asks returns an answer with an unread body.
func (c client) asks(method, path, body string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.http.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", c.key)
	answer, err := c.http.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer
}
