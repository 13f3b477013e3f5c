package speech

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/appliance/contract"
	"parley/appliance/engine"
)

// spelling says each letter as a phoneme of 50 ms, in pieces that end within words.
type spelling struct{ rateHz int }

func (s spelling) RateHz() int { return s.rateHz }

func (s spelling) Speak(_ context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	letter := int(float64(s.rateHz) / 20 / o.Speed)
	var all engine.Sound
	for _, w := range strings.Fields(text) {
		begin := len(all.PCM)
		for _, r := range w {
			at := len(all.PCM)
			all.PCM = append(all.PCM, make([]float32, letter)...)
			all.Phonemes = append(all.Phonemes, engine.Phoneme{Symbol: string(r), Begin: at, End: at + letter})
		}
		all.Words = append(all.Words, engine.Word{Text: w, Begin: begin, End: len(all.PCM)})
	}
	sent, rest := 0, all
	for piece := 3*letter + 1; sent+piece < len(all.PCM); sent += piece {
		part := cutTimes(&rest, sent+piece, false)
		part.PCM = all.PCM[sent : sent+piece]
		if err := emit(part); err != nil {
			return err
		}
	}
	rest.PCM, rest.Last = all.PCM[sent:], true
	return emit(rest)
}

// received is what a client has received of one generation.
type received struct {
	times []contract.Timestamp
	begun []int64 // when the sound of each snippet began, in ms
	made  int     // samples
}

// hear adds a message, and fails if a time goes backwards or belongs to sound that was not sent
// yet.
func (r *received) hear(t fataler, m contract.TTSMessage) {
	switch m := m.(type) {
	case contract.SnippetAudioChunk:
		if m.ChunkIndex == 0 {
			r.begun = append(r.begun, milliseconds(r.made))
		}
		r.made += len(m.Audio) / 2
	case contract.TimestampMessage:
		r.tell(t, m.Timestamp)
	}
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

func (r *received) tell(t fataler, at contract.Timestamp) {
	t.Helper()
	if at.Time.Begin > at.Time.End || at.Time.End > milliseconds(r.made) {
		t.Fatalf("received of %+v when %d ms were sent", at, milliseconds(r.made))
	}
	if n := len(r.begun); n > 0 && at.Time.Begin < r.begun[n-1] {
		t.Fatalf("%+v is before its snippet, which begins at %d ms", at, r.begun[n-1])
	}
	for i := len(r.times) - 1; i >= 0; i-- {
		if before := r.times[i]; before.Type == at.Type {
			if at.Time.Begin < before.Time.End {
				t.Fatalf("%+v behind %+v", at, before)
			}
			break
		}
	}
	r.times = append(r.times, at)
}

// words returns the words received, and the number of phonemes.
func (r *received) words() (words []string, phonemes int) {
	for _, at := range r.times {
		if at.Type == contract.TimestampWord {
			words = append(words, at.Text)
		} else {
			phonemes++
		}
	}
	return words, phonemes
}

var both = []contract.TimestampType{contract.TimestampWord, contract.TimestampPhoneme}

// askedFor draws a request.
func askedFor(t *rapid.T) Request {
	a := Request{Account: "a", PostedTTS: contract.PostedTTS{
		Format:                &contract.Format{Type: contract.FormatPCM},
		StripHeaders:          true,
		IncludeTimestampTypes: both,
		NumGenerations:        rapid.IntRange(1, 3).Draw(t, "generations"),
	}}
	instant, split := rapid.Bool().Draw(t, "instant"), rapid.Bool().Draw(t, "split")
	a.InstantMode, a.SplitUtterances = &instant, &split
	sentence := rapid.SampledFrom([]string{"One.", "Two, three!", "Is it so?", "A longer sentence of words.", "x"})
	for range rapid.IntRange(1, 3).Draw(t, "utterances") {
		a.Utterances = append(a.Utterances, contract.PostedUtterance{
			Text:            strings.Join(rapid.SliceOfN(sentence, 1, 4).Draw(t, "text"), " "),
			Voice:           &contract.VoiceRef{Name: "a"},
			Speed:           rapid.SampledFrom([]float64{0.5, 1, 1.3, 2}).Draw(t, "speed"),
			TrailingSilence: rapid.SampledFrom([]float64{0, 0, 0.5, 1.234}).Draw(t, "silence"),
		})
	}
	return a
}

func (r Request) words() (words []string) {
	for _, u := range r.Utterances {
		words = append(words, strings.Fields(u.Text)...)
	}
	return words
}

// Times count from the beginning of the generation, never go backwards, and come for every word
// and phoneme after its sound, on every path.
func TestTimesContinueThroughAGeneration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := askedFor(t)
		rate := rapid.SampledFrom([]int{16000, 22050, 24000, 48000}).Draw(t, "rate")
		voice := Voice{Recipe: []byte(`{}`), Synthesizer: spelling{rate}}
		s := New(Parts{Voices: only{voice}, Log: slog.New(slog.DiscardHandler)})
		j, err := s.Begin(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		all := map[string]*received{}
		if rapid.Bool().Draw(t, "streamed") {
			err = j.Stream(t.Context(), func(m contract.TTSMessage) error {
				id := generationOf(m)
				if all[id] == nil {
					all[id] = &received{}
				}
				all[id].hear(t, m)
				return nil
			})
		} else {
			all, err = inOne(t, j)
		}
		if err != nil || len(all) != a.NumGenerations {
			t.Fatalf("%d of %d generations, %v", len(all), a.NumGenerations, err)
		}
		for _, g := range all {
			words, phonemes := g.words()
			want := a.words()
			if letters := len(strings.Join(want, "")); fmt.Sprint(words) != fmt.Sprint(want) || phonemes != letters {
				t.Fatalf("received of %q and %d phonemes; want %q and %d", words, phonemes, want, letters)
			}
		}
	})
}

func generationOf(m contract.TTSMessage) string {
	if chunk, ok := m.(contract.SnippetAudioChunk); ok {
		return chunk.GenerationID
	}
	return m.(contract.TimestampMessage).GenerationID
}

// inOne has a job answer with one object, and returns its generations.
func inOne(t *rapid.T, j *Job) (map[string]*received, error) {
	var body bytes.Buffer
	if err := j.Whole(t.Context(), &body); err != nil {
		return nil, err
	}
	var answer contract.ReturnTTS
	if err := json.Unmarshal(body.Bytes(), &answer); err != nil {
		return nil, err
	}
	all := map[string]*received{}
	for _, g := range answer.Generations {
		one := &received{}
		for _, utterance := range g.Snippets {
			for _, s := range utterance {
				one.hear(t, contract.SnippetAudioChunk{Audio: s.Audio})
				for _, at := range s.Timestamps {
					one.tell(t, at)
				}
			}
		}
		if n := int(math.Round(g.Duration * contract.OutputRateHz)); n != one.made {
			t.Fatalf("%d samples; its snippets have %d", n, one.made)
		}
		all[g.GenerationID] = one
	}
	return all, nil
}

// hearing is the client of a socket that records all messages.
type hearing struct {
	client
	messages []contract.TTSMessage
}

func (h *hearing) Message(_ context.Context, m contract.TTSMessage) error {
	h.messages = append(h.messages, m)
	return nil
}

// Times continue through the sentences of a generation; the next generation starts at 0.
func TestTimesContinueOverASocket(t *testing.T) {
	for _, instant := range []bool{true, false} {
		voice := Voice{Recipe: []byte(`{}`), Synthesizer: spelling{22050}}
		s := New(Parts{Voices: only{voice}, Records: memoryStore{}, Log: slog.New(slog.DiscardHandler)})
		h := &hearing{client: client{closed: make(chan int, 2)}}
		in := s.OpenInput(t.Context(), "a", "r", contract.TTSConnect{
			Format:                contract.FormatPCM,
			NoBinary:              true,
			StripHeaders:          true,
			InstantMode:           &instant,
			IncludeTimestampTypes: both,
		}, h)
		sendAll(t, in,
			contract.PublishTTS{Text: "One two. Three ", Voice: &contract.VoiceRef{Name: "a"}},
			contract.PublishTTS{Text: "four! Five. "},
			contract.PublishTTS{Text: "Six.", TrailingSilence: 0.7},
			contract.PublishTTS{Text: "Seven. Eight.", Flush: true},
			contract.PublishTTS{Text: "Nine.", Close: true},
		)
		var all []*received
		last := ""
		for _, m := range h.messages {
			if id := generationOf(m); id != last {
				all, last = append(all, &received{}), id
			}
			all[len(all)-1].hear(t, m)
		}
		var said []string
		for _, g := range all {
			words, _ := g.words()
			said = append(said, strings.Join(words, " "))
			if g.times[0].Time.Begin != 0 {
				t.Errorf("a generation begins at %+v", g.times[0])
			}
		}
		if got := strings.Join(said, " | "); got != "One two. Three four! Five. Six. | Seven. Eight. | Nine." {
			t.Errorf("instant %v: received of %s", instant, got)
		}
	}
}

// The times of a conversion are those of the recording.
func TestTimesOfAConversion(t *testing.T) {
	for _, voice := range []engine.Synthesizer{spelling{24000}, metronome{1, 1}} {
		phrases := []phrase{
			said(700, 1900, "twenty letters or so"), said(2000, 2300, "twelve short"),
			said(5000, 6600, "another sentence of some length"),
		}
		j := &Job{service: New(Parts{Log: slog.New(slog.DiscardHandler)})}
		j.request.IncludeTimestampTypes = both
		length := samplesOf(8*time.Second, engine.SpeechRateHz)
		said := &utterance{voice: Voice{Synthesizer: voice}}
		gen := &generation{script: &script{phrases: phrases, length: length, utterance: said}}
		g := &received{}
		err := j.speak(t.Context(), gen, newPlayback(), func(p piece) error {
			g.hear(t, contract.SnippetAudioChunk{Audio: make([]byte, 2*len(p.pcm))})
			for _, at := range p.times {
				g.tell(t, at)
			}
			return nil
		})
		words, _ := g.words()
		want := strings.Fields("twenty letters or so twelve short another sentence of some length")
		if err != nil || fmt.Sprint(words) != fmt.Sprint(want) {
			t.Errorf("received of %q, %v", words, err)
		}
	}
}
