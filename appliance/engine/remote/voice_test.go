package remote

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// sentence12 is what the voices of these tests speak, a quarter of a second a word.
const sentence12 = "One two three four five six seven eight nine ten eleven twelve."

const wordSamples = VoiceRateHz / 4

// tone returns a loud sound at VoiceRateHz.
func tone(samples int) []float32 {
	pcm := make([]float32, samples)
	for i := range pcm {
		pcm[i] = 0.1 * float32(math.Sin(2*math.Pi*300*float64(i)/VoiceRateHz))
	}
	return pcm
}

func soundOf(text string) []float32 { return tone(len(strings.Fields(text)) * wordSamples) }

// texts records the texts that a server is asked to speak.
type texts struct {
	mu  sync.Mutex
	all []string
}

func (s *texts) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

func (s *texts) get() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// sending is how a server sends sound.
type sending func(w http.ResponseWriter, r *http.Request, pcm []float32)

// speaks answers with the sound of the text.
func speaks(t *testing.T, asked *texts, send sending) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return
		}
		var q speechRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Format != "pcm" || q.Model != "m" {
			t.Errorf("%+v, %v", q, err)
		}
		asked.add(q.Voice + ": " + q.Input)
		send(w, r, soundOf(q.Input))
	}
}

func sendPCM(w http.ResponseWriter, _ *http.Request, pcm []float32) {
	w.Header().Set("Content-Type", "audio/pcm")
	w.Write(audio.AppendLinear16(nil, pcm))
}

// diesAfter sends a part of the sound and breaks the connection.
func diesAfter(samples int) sending {
	return func(w http.ResponseWriter, r *http.Request, pcm []float32) {
		sendPCM(w, r, pcm[:min(samples, len(pcm))])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

func voicesOn(t *testing.T, peers ...*peer) *VoicePool {
	t.Helper()
	var all []VoiceServer
	for _, p := range peers {
		all = append(all, VoiceServer{Options: p.options(), Voices: []string{"af_heart", "Joe"}})
	}
	pool, err := OpenVoices(all, quick)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

func voiceOf(t *testing.T, p *VoicePool, embedded engine.Synthesizer) *Voice {
	t.Helper()
	var open Embedded
	if embedded != nil {
		open = func(context.Context) (engine.Synthesizer, error) { return embedded, nil }
	}
	v, found := p.Voice("joe", "en-US", open)
	if !found {
		t.Fatal("there is no such voice")
	}
	// these voices need a quarter of a second for a word, and their loudness is not changed
	v.figures.perLetter = float64(12*wordSamples) / float64(letters(sentence12))
	v.figures.lufs = sharedLUFS
	return v
}

// spoken is what a voice has spoken.
type spoken struct {
	sounds []engine.Sound
	pcm    []float32
	first  time.Duration
	whole  time.Duration
}

// speak has a voice speak the sentence, which has to take no longer than the bound.
func speak(t *testing.T, v engine.Synthesizer, o engine.SpeakOptions) (s spoken, err error) {
	t.Helper()
	begun := time.Now()
	err = v.Speak(t.Context(), sentence12, o, func(sound engine.Sound) error {
		if s.sounds == nil {
			s.first = time.Since(begun)
		}
		s.sounds = append(s.sounds, sound)
		s.pcm = append(s.pcm, sound.PCM...)
		return nil
	})
	s.whole = time.Since(begun)
	if s.whole > bounded {
		t.Errorf("it took %v", s.whole)
	}
	for i, sound := range s.sounds {
		if last := i == len(s.sounds)-1; sound.Last != last || last && sound.TotalSamples != len(s.pcm) {
			t.Errorf("piece %d of %d: last %v, %d samples in all, want %d", i, len(s.sounds), sound.Last,
				sound.TotalSamples, len(s.pcm))
		}
	}
	return s, err
}

// wantWords compares the length of sound in words.
func wantWords(t *testing.T, s spoken, words float64) {
	t.Helper()
	if got := float64(len(s.pcm)) / wordSamples; math.Abs(got-words) > 0.05 {
		t.Errorf("%.2f words were spoken, want %.2f", got, words)
	}
}

func TestAVoiceOnAServerSpeaksInPieces(t *testing.T) {
	var asked texts
	release := make(chan struct{})
	p := newPeer(t, speaks(t, &asked, func(w http.ResponseWriter, r *http.Request, pcm []float32) {
		half := len(pcm) / 2
		sendPCM(w, r, pcm[:half])
		w.(http.Flusher).Flush()
		<-release
		sendPCM(w, r, pcm[half:])
	}))
	v := voiceOf(t, voicesOn(t, p), nil)
	var s spoken
	err := v.Speak(t.Context(), sentence12, engine.SpeakOptions{}, func(sound engine.Sound) error {
		if s.sounds == nil { // the first sound comes while the server still works
			close(release)
			if n := len(sound.PCM); n < firstPiece || n > 2*firstPiece {
				t.Errorf("the first piece has %d samples", n)
			}
			if d := sound.TotalSamples - 12*wordSamples; d < -wordSamples || d > wordSamples {
				t.Errorf("the whole is estimated as %d samples", sound.TotalSamples)
			}
		}
		s.sounds = append(s.sounds, sound)
		s.pcm = append(s.pcm, sound.PCM...)
		return nil
	})
	if err != nil || !slices.Equal(asked.get(), []string{"Joe: " + sentence12}) {
		t.Fatalf("%v, %q", err, asked.get())
	}
	want := tone(12 * wordSamples)
	if len(s.pcm) != len(want) {
		t.Fatalf("%d samples, want %d", len(s.pcm), len(want))
	}
	for i := range want {
		if math.Abs(float64(s.pcm[i]-want[i])) > 1e-3 {
			t.Fatalf("sample %d is %v, want %v", i, s.pcm[i], want[i])
		}
	}
	if engine.LanguageOf(v) != "en-US" || engine.IdentityOf(v) != "" || v.RateHz() != VoiceRateHz {
		t.Error("language, identity or rate")
	}
	if _, found := v.pool.Voice("heart", "", nil); found {
		t.Error("a voice is found that no server has")
	}
}

func TestSoundOfOtherRatesAndWithAHeaderIsConverted(t *testing.T) {
	at := func(hz int, pcm []float32) []float32 { return audio.Resample(pcm, VoiceRateHz, hz) }
	for name, send := range map[string]sending{
		"rate in the type": func(w http.ResponseWriter, _ *http.Request, pcm []float32) {
			w.Header().Set("Content-Type", "audio/pcm;rate=16000;channels=1")
			w.Write(audio.AppendLinear16(nil, at(16000, pcm)))
		},
		"WAV": func(w http.ResponseWriter, _ *http.Request, pcm []float32) {
			w.Header().Set("Content-Type", "audio/wav")
			w.Write(audio.EncodeWAV(at(22050, pcm), 22050))
		},
		"WAV, called pcm": func(w http.ResponseWriter, _ *http.Request, pcm []float32) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Write(audio.EncodeWAV(at(48000, pcm), 48000))
		},
		"cut within a sample": func(w http.ResponseWriter, r *http.Request, pcm []float32) {
			w.Header().Set("Content-Type", "audio/pcm")
			w.Write(append(audio.AppendLinear16(nil, pcm), 0))
		},
	} {
		var asked texts
		s, err := speak(t, voiceOf(t, voicesOn(t, newPeer(t, speaks(t, &asked, send))), nil), engine.SpeakOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantWords(t, s, 12)
	}
	var asked texts
	p := newPeer(t, speaks(t, &asked, func(w http.ResponseWriter, _ *http.Request, pcm []float32) {
		w.Write(audio.AppendLinear16(nil, at(8000, pcm)))
	}))
	pool, err := OpenVoices([]VoiceServer{{Options: p.options(), Voices: []string{"joe"}, RateHz: 8000}}, quick)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s, err := speak(t, voiceOf(t, pool, nil), engine.SpeakOptions{})
	if err != nil {
		t.Error(err)
	}
	wantWords(t, s, 12)
}

func TestAnotherServerSpeaksForOneThatFails(t *testing.T) {
	fails := map[string]http.HandlerFunc{}
	for name, fail := range failures {
		fails[name] = fail
	}
	for name, body := range map[string]string{"JSON as sound": `{"error": "the model is not loaded"}`,
		"page as sound": "<html>Bad gateway, 502</html>", "no WAV": "ID3 and the rest of it"} {
		fails[name] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "audio/pcm")
			if name == "no WAV" {
				w.Header().Set("Content-Type", "audio/wav")
			}
			w.Write([]byte(body))
		}
	}
	fails["MP3"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "audio/mpeg")
		w.Write(make([]byte, 10000))
	}
	fails["dies at once"] = func(w http.ResponseWriter, r *http.Request) {
		diesAfter(firstPiece/2)(w, r, tone(firstPiece))
	}
	for name, fail := range fails {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked texts
			bad, good := newPeer(t, fail), newPeer(t, speaks(t, &asked, sendPCM))
			v := voiceOf(t, voicesOn(t, bad, good), nil)
			for bad.calls.Load() == 0 {
				s, err := speak(t, v, engine.SpeakOptions{})
				if err != nil {
					t.Fatal(err)
				}
				wantWords(t, s, 12)
			}
			if s := stateOf(v.pool.States(), bad); s.Failures != 1 || s.Serves != "voice" {
				t.Errorf("%+v", s)
			}
			only := voiceOf(t, voicesOn(t, newPeer(t, fail)), enginetest.FixedSound(22050, make([]float32, 22050)))
			s, err := speak(t, only, engine.SpeakOptions{})
			if err != nil {
				t.Fatal(err)
			}
			wantWords(t, s, 4)
		})
	}
}

// The rest of a sentence begins with the word in which the sound stopped.
func TestAnotherServerSpeaksTheRestOfASentence(t *testing.T) {
	for name, dies := range map[string]sending{
		"breaks": diesAfter(6 * wordSamples),
		"hangs": func(w http.ResponseWriter, r *http.Request, pcm []float32) {
			sendPCM(w, r, pcm[:6*wordSamples])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"is slower than it is played": func(w http.ResponseWriter, r *http.Request, pcm []float32) {
			sendPCM(w, r, pcm[:6*wordSamples])
			for i := range 60 {
				w.(http.Flusher).Flush()
				select {
				case <-time.After(100 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
				sendPCM(w, r, pcm[6*wordSamples+i:6*wordSamples+i+1])
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var first, second texts
			bad, good := newPeer(t, speaks(t, &first, dies)), newPeer(t, speaks(t, &second, sendPCM))
			v := voiceOf(t, voicesOn(t, bad, good), nil)
			bad.answersFirst(v.pool)
			s, err := speak(t, v, engine.SpeakOptions{})
			if err != nil {
				t.Fatal(err)
			}
			rest := second.get()
			if len(first.get()) != 1 || len(rest) != 1 || !strings.HasSuffix(rest[0], " nine ten eleven twelve.") ||
				strings.Contains(rest[0], "five") {
				t.Errorf("%q, then %q", first.get(), rest)
			}
			wantWords(t, s, 6+float64(len(strings.Fields(rest[0])))-1)
		})
	}
}

// answersFirst makes the pool ask p before others.
func (p *peer) answersFirst(pool *VoicePool) {
	for _, m := range pool.members {
		m.latency, m.measured = time.Second, time.Now()
		if m.server.name == p.URL {
			m.latency = time.Millisecond
		}
	}
}

func TestTheEmbeddedVoiceSpeaksTheRestOfASentence(t *testing.T) {
	var asked texts
	var o engine.SpeakOptions
	var said string
	embedded := &enginetest.Voice{Hz: 12000, SpeakFunc: func(_ context.Context, text string, with engine.SpeakOptions,
		emit func(engine.Sound) error) error {
		said, o = text, with
		n := len(strings.Fields(text)) * wordSamples / 2
		to := strings.IndexByte(text, ' ')
		return emit(engine.Sound{
			PCM:          make([]float32, n),
			Words:        []engine.Word{{Text: text[:to], To: to, Begin: 0, End: 3000}},
			TotalSamples: n,
			Last:         true,
		})
	}}
	bad := newPeer(t, speaks(t, &asked, diesAfter(6*wordSamples)))
	v := voiceOf(t, voicesOn(t, bad), embedded)
	s, err := speak(t, v, engine.SpeakOptions{Previous: "Well, "})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(said, " nine ten eleven twelve.") || o.Previous+said != "Well, "+sentence12 {
		t.Errorf("%q after %q", said, o.Previous)
	}
	wantWords(t, s, 6+float64(len(strings.Fields(said))))
	w := s.sounds[len(s.sounds)-1].Words
	if len(w) != 1 || sentence12[w[0].From:w[0].To] != w[0].Text || w[0].Begin != 6*wordSamples ||
		w[0].End != 7*wordSamples {
		t.Errorf("%+v", w)
	}
	// from now on the server is down, and the embedded voice speaks at once
	s, err = speak(t, v, engine.SpeakOptions{})
	if err != nil || said != sentence12 || len(asked.get()) > 2 {
		t.Errorf("%v, %q, %q", err, said, asked.get())
	}
	wantWords(t, s, 12)
}

func TestASentenceThatNobodyCanFinishEnds(t *testing.T) {
	var asked texts
	p := newPeer(t, nil)
	handle := speaks(t, &asked, func(w http.ResponseWriter, r *http.Request, pcm []float32) {
		if len(asked.get()) > 1 {
			panic(http.ErrAbortHandler)
		}
		diesAfter(6*wordSamples)(w, r, pcm)
	})
	p.handle.Store(&handle)
	s, err := speak(t, voiceOf(t, voicesOn(t, p), nil), engine.SpeakOptions{})
	if err != nil {
		t.Fatal(err)
	}
	wantWords(t, s, 6)
}

func TestACancelledSentenceEndsOnTheWire(t *testing.T) {
	var asked texts
	p := newPeer(t, speaks(t, &asked, func(w http.ResponseWriter, r *http.Request, pcm []float32) {
		sendPCM(w, r, pcm[:6*wordSamples])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	v := voiceOf(t, voicesOn(t, p), nil)
	ctx, cancel := context.WithCancel(t.Context())
	err := v.Speak(ctx, sentence12, engine.SpeakOptions{}, func(engine.Sound) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-p.left
	if s := stateOf(v.pool.States(), p); s.State != engine.Up || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

func TestSpeedAndLoudness(t *testing.T) {
	var speeds []float64
	p := newPeer(t, func(w http.ResponseWriter, r *http.Request) {
		var q speechRequest
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		speeds = append(speeds, q.Speed)
		sendPCM(w, r, soundOf(q.Input))
	})
	v := voiceOf(t, voicesOn(t, p), nil)
	v.figures.lufs, v.figures.perLetter = 0, usualPerLetter
	if err := v.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := speak(t, v, engine.SpeakOptions{Speed: 1.5, ModelSpeed: 2})
	if err != nil || !slices.Equal(speeds, []float64{0, 3}) {
		t.Errorf("%v, %v", err, speeds)
	}
	if l := audio.Loudness(s.pcm, VoiceRateHz); math.Abs(l-sharedLUFS) > 0.5 {
		t.Errorf("%.1f LUFS", l)
	}
	if v.figures.perLetter == usualPerLetter {
		t.Error("the length of letters was not learned")
	}
	if s, err := speak(t, v, engine.SpeakOptions{Speed: 9}); err != nil || len(s.pcm) == 0 || speeds[2] != 4 {
		t.Errorf("%v, %v", err, speeds)
	}
}

func TestTextWithoutLettersIsSilent(t *testing.T) {
	p := newPeer(t, failures["500"])
	err := voiceOf(t, voicesOn(t, p), nil).Speak(t.Context(), "… — !", engine.SpeakOptions{},
		func(engine.Sound) error { return errors.New("a sound") })
	if err != nil || p.calls.Load() != 0 {
		t.Errorf("%v, %d calls", err, p.calls.Load())
	}
}

// Any bytes are sound, or an error, and never a panic.
func FuzzSoundOfAServer(f *testing.F) {
	f.Add([]byte{}, "audio/pcm")
	f.Add([]byte(`{"error": 1}`), "")
	f.Add(audio.EncodeWAV(tone(100), 22050), "audio/wav")
	f.Add(binary.LittleEndian.AppendUint16(nil, 7), "audio/pcm; rate=1")
	f.Fuzz(func(t *testing.T, body []byte, kind string) {
		response := &http.Response{Header: http.Header{"Content-Type": {kind}}, Body: http.NoBody}
		response.Body = readCloser{strings.NewReader(string(body))}
		in, err := newSoundReader(response, VoiceRateHz)
		if err != nil {
			return
		}
		defer in.close()
		for err == nil {
			_, err = in.next()
		}
	})
}

type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }
