package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

func earsOn(t *testing.T, embedded engine.Transcriber, peers ...*peer) *TranscriberPool {
	t.Helper()
	var all []Options
	for _, p := range peers {
		all = append(all, p.options())
	}
	pool, err := OpenTranscribers(all, embedded, quick)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// hears answers every sound with a text.
func hears(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(map[string]string{"text": text}); err != nil {
			panic(err)
		}
	}
}

// second is a second of sound.
var second = make([]float32, engine.SpeechRateHz)

// transcribe returns the words that are heard, which have to come in time.
func transcribe(t *testing.T, heard engine.Transcriber) (string, error) {
	t.Helper()
	begun := time.Now()
	got, err := heard.Transcribe(t.Context(), second, engine.TranscribeOptions{})
	if took := time.Since(begun); took > bounded {
		t.Errorf("it took %v", took)
	}
	return got.Text, err
}

func TestAnotherServerTranscribesForOneThatFails(t *testing.T) {
	fails := map[string]http.HandlerFunc{"comes too late": func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(bounded):
		case <-r.Context().Done():
		}
		hears("Late.")(w, r)
	}, "breaks off": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"text": "What `)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}}
	for name, fail := range failures {
		fails[name] = fail
	}
	for name, fail := range fails {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, good := newPeer(t, fail), newPeer(t, hears(" What time? "))
			pool := earsOn(t, nil, bad, good)
			for bad.calls.Load() == 0 { // which is asked first is up to chance
				if text, err := transcribe(t, pool); text != "What time?" || err != nil {
					t.Fatalf("%q, %v", text, err)
				}
			}
			if s := stateOf(pool.States(), bad); s.Failures != 1 || s.Serves != "transcriber" {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestTheEmbeddedTranscriberTakesOver(t *testing.T) {
	peers := []*peer{newPeer(t, failures["hangs after headers"]), newPeer(t, failures["503"]),
		newPeer(t, failures["JSON"])}
	embedded := enginetest.FixedTranscript("From here.")
	pool := earsOn(t, embedded, peers...)
	for range 3 {
		if text, err := transcribe(t, pool); text != "From here." || err != nil {
			t.Fatalf("%q, %v", text, err)
		}
	}
	refuses := newPeer(t, status(http.StatusRequestEntityTooLarge))
	if text, err := transcribe(t, earsOn(t, embedded, refuses)); text != "From here." || err != nil {
		t.Errorf("refused: %q, %v", text, err)
	}
	_, err := transcribe(t, earsOn(t, nil, newPeer(t, failures["500"])))
	if !errors.Is(err, engine.ErrBroken) || !strings.HasPrefix(err.Error(), "transcriber at http://") {
		t.Errorf("%v", err)
	}
}

func TestTheServerGetsWAVAndItsWordsHaveTimes(t *testing.T) {
	p := newPeer(t, func(w http.ResponseWriter, r *http.Request) {
		file, _, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		data, err := io.ReadAll(file)
		if err != nil {
			t.Error(err)
		}
		if pcm, err := audio.DecodeAll(data, engine.SpeechRateHz); err != nil || len(pcm) != len(second) {
			t.Errorf("%d samples, %v", len(pcm), err)
		}
		for field, want := range map[string][]string{"model": {"m"}, "response_format": {"verbose_json"},
			"language": {"de"}, "timestamp_granularities[]": {"word", "segment"}} {
			if got := r.Form[field]; !slices.Equal(got, want) {
				t.Errorf("%s is %q, want %q", field, got, want)
			}
		}
		if r.Header.Get("Authorization") != "Bearer the-key" {
			t.Errorf("%v", r.Header)
		}
		fmt.Fprint(w, `{"task": "transcribe", "language": "german", "duration": 1.0, "text": " Wie spät, bitte? ",
			"segments": [{"id": 0, "avg_logprob": -0.1}, {"id": 1, "avg_logprob": -0.3}],
			"words": [{"word": "Wie", "start": 0.1, "end": 0.25}, {"word": " bitte", "start": 0.5, "end": 1.5}]}`)
	})
	heard, err := earsOn(t, nil, p).Transcribe(t.Context(), second,
		engine.TranscribeOptions{Language: "de-AT", Words: true})
	if err != nil {
		t.Fatal(err)
	}
	c := heard.Confidence
	want := []engine.TranscriptWord{
		{From: 0, To: 3, Confidence: c, Begin: 1600, End: 4000},
		{From: 4, To: 10, Confidence: c},
		{From: 11, To: 17, Confidence: c, Begin: 8000, End: 16000},
	}
	if heard.Text != "Wie spät, bitte?" || heard.Language != "de" || c < 0.81 || c > 0.82 ||
		!slices.Equal(heard.Words, want) {
		t.Errorf("%+v", heard)
	}
}

func TestAServerWithoutVerboseJSONIsAskedForJSON(t *testing.T) {
	p := newPeer(t, nil)
	handle := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("response_format") != "json" {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error": {"message": "response_format 'verbose_json' is not compatible with this model",
				"param": "response_format"}}`)
			return
		}
		hears("What time?")(w, r)
	})
	p.handle.Store(&handle)
	pool := earsOn(t, nil, p)
	for range 2 {
		heard, err := pool.Transcribe(t.Context(), second, engine.TranscribeOptions{Words: true})
		if err != nil || heard.Text != "What time?" || len(heard.Words) != 2 || heard.Confidence != 1 {
			t.Errorf("%+v, %v", heard, err)
		}
	}
	if n := p.calls.Load(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestACancelledTranscriptionEndsOnTheWire(t *testing.T) {
	p := newPeer(t, failures["hangs"])
	o := quick
	o.Pacing.Patience = time.Minute
	pool, err := OpenTranscribers([]Options{p.options()}, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitFor(t, func() bool { return p.calls.Load() == 1 })
		cancel()
	}()
	if _, err := pool.Transcribe(ctx, second, engine.TranscribeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-p.left
}

func TestLanguageTags(t *testing.T) {
	for named, want := range map[string]string{"english": "en", "English": "en", "de": "de", "haitian creole": "ht",
		"jw": "jv", "": "x", "Klingon": "x"} {
		if got := languageTag(named, "x"); got != want {
			t.Errorf("%q is %q, want %q", named, got, want)
		}
	}
}
