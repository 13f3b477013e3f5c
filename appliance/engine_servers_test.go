package appliance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/remote"
)

// mortal is a server with engines that can die: at once, or in the middle of its next answer or sentence.
type mortal struct {
	*httptest.Server
	dead           atomic.Bool
	diesOnAnswer   *atomic.Bool // of all servers: the next that writes an answer dies within it
	diesOnSentence *atomic.Bool // the next that speaks a sentence
	died           atomic.Int32
}

func newMortal(t *testing.T, diesOnAnswer, diesOnSentence *atomic.Bool) *mortal {
	m := &mortal{diesOnAnswer: diesOnAnswer, diesOnSentence: diesOnSentence}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/transcriptions", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"text": "When do you open?", "language": "english"}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		words := []string{"We open ", "at ", "ten o'clock."}
		if bytes.Contains(body, []byte("broken off")) {
			words = []string{"nine in the morning."}
		}
		for i, word := range words {
			fmt.Fprintf(w, "data: {\"choices\": [{\"delta\": {\"content\": %q}}]}\n\n", word)
			w.(http.Flusher).Flush()
			if i == 1 && m.diesOnAnswer.CompareAndSwap(true, false) {
				m.die()
			}
		}
		fmt.Fprint(w, "data: {\"choices\": [{\"delta\": {}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Input string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "audio/pcm")
		sound := audio.AppendLinear16(nil, make([]float32, len(q.Input)*24000*60/1000))
		w.Write(sound[:len(sound)/2])
		w.(http.Flusher).Flush()
		if m.diesOnSentence.CompareAndSwap(true, false) {
			m.die()
		}
		w.Write(sound[len(sound)/2:])
	})
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.dead.Load() {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(m.Close)
	return m
}

// die closes the connection, and answers none from now on.
func (m *mortal) die() {
	m.dead.Store(true)
	m.died.Add(1)
	panic(http.ErrAbortHandler)
}

// servedVoices has one voice, which is on servers.
type servedVoices struct {
	fakeEngines
	pool *remote.VoicePool
}

func (s servedVoices) Voice(context.Context, string, string) (engine.Synthesizer, error) {
	embedded := func(context.Context) (engine.Synthesizer, error) { return s.fakeEngines, nil }
	v, _ := s.pool.Voice("joe", "en-US", embedded)
	return v, nil
}

func (servedVoices) Prepare(string, string) error { return nil }

// servedModels has the embedded model behind the one on servers.
type servedModels struct{ fakeEngines }

func (m servedModels) Fallback() []engine.LanguageModel { return []engine.LanguageModel{m.fakeEngines} }

// A conversation whose ears, voice and mind are on three servers has an answer to each turn: when one dies
// within an answer, another within a sentence, and when all are dead.
func TestEveryTurnIsAnsweredWhileServersDie(t *testing.T) {
	t.Parallel()
	var diesOnAnswer, diesOnSentence atomic.Bool
	var servers [3]*mortal
	var options []remote.Options
	var voices []remote.VoiceServer
	for i := range servers {
		servers[i] = newMortal(t, &diesOnAnswer, &diesOnSentence)
		o := remote.Options{BaseURL: servers[i].URL + "/v1", Model: "m"}
		options = append(options, o)
		voices = append(voices, remote.VoiceServer{Options: o, Voices: []string{"joe"}})
	}
	pools := remote.PoolOptions{Log: slog.New(slog.NewTextHandler(testLog{t}, nil))}
	ears, err := remote.OpenTranscribers(options, fakeEngines{}, pools)
	if err != nil {
		t.Fatal(err)
	}
	mind, err := remote.OpenModels(options, true, pools)
	if err != nil {
		t.Fatal(err)
	}
	mouth, err := remote.OpenVoices(voices, pools)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ears.Close(); mind.Close(); mouth.Close() })
	b := startFakeBox(t, func(p *chat.Parts) {
		p.Transcriber, p.Model, p.Voices, p.Models = ears, mind, servedVoices{pool: mouth}, servedModels{}
	})
	c := b.call(t, linear16)
	voice := make([]float32, 16000)
	for i := range voice {
		voice[i] = 0.1
	}
	// turn speaks, and returns what is answered and how long its sound is.
	turns := 0
	turn := func() (answer string, seconds float64) {
		before := len(c.all())
		stop := make(chan struct{})
		defer close(stop)
		c.say(voice, stop)
		turns++
		for _, m := range c.until("assistant_end", turns, waitLimit)[before:] {
			switch m := m.ServerMessage.(type) {
			case contract.AssistantMessage:
				answer += m.Message.Content + " "
			case contract.AudioOutput:
				seconds += float64(len(m.Data)-44) / 2 / contract.OutputRateHz
			case contract.WebSocketError:
				t.Errorf("turn %d: %+v", turns, m)
			}
		}
		return strings.TrimSpace(answer), seconds
	}
	deaths := func() (n int32) {
		for _, s := range servers {
			n += s.died.Load()
		}
		return n
	}

	diesOnAnswer.Store(true)
	if answer, _ := turn(); answer != "We open at nine in the morning." || deaths() != 1 {
		t.Errorf("%q after %d deaths", answer, deaths())
	}
	diesOnSentence.Store(true)
	whole := float64(len("We open at ten o'clock.")) * 0.06
	if answer, seconds := turn(); answer != "We open at ten o'clock." || deaths() != 2 || seconds < whole-0.1 {
		t.Errorf("%q, %.2f s of %.2f after %d deaths", answer, seconds, whole, deaths())
	}
	for _, s := range servers {
		s.dead.Store(true)
	}
	if answer, seconds := turn(); answer != "It opens at ten. Not on Mondays." || seconds < 1 {
		t.Errorf("%q, %.2f s without servers", answer, seconds)
	}
}
