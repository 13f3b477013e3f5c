package speech

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engine/enginetest"
)

// metronome is a voice that says each letter as a tone of 50 ms, with silence around the whole,
// within a range of speeds.
type metronome struct{ slowest, fastest float64 }

func (metronome) RateHz() int { return 24000 }

func (m metronome) Speak(_ context.Context, text string, o engine.SpeakOptions, emit func(engine.Sound) error) error {
	speed := min(max(o.Speed, m.slowest), m.fastest)
	edge, letter := 2400, int(1200/speed)
	pcm := make([]float32, 2*edge+letter*len(text))
	var words []engine.Word
	at := edge
	for _, w := range strings.Fields(text) {
		n := letter * (len(w) + 1)
		words = append(words, engine.Word{Text: w, Begin: at, End: at + n})
		at += n
	}
	for i := range pcm[edge : edge+letter*len(text)] {
		pcm[edge+i] = 0.3 * float32(math.Sin(float64(i)*2*math.Pi*440/24000))
	}
	fadeEdges(pcm[edge:edge+letter*len(text)], 240)
	return emit(engine.Sound{
		PCM:          pcm,
		Words:        words,
		TotalSamples: len(pcm),
		Last:         true,
	})
}

// noting returns m as a voice that calls note with each text it is given.
func (m metronome) noting(note func(text string, o engine.SpeakOptions)) *enginetest.Voice {
	return &enginetest.Voice{SpeakFunc: func(ctx context.Context, text string, o engine.SpeakOptions,
		emit func(engine.Sound) error) error {
		note(text, o)
		return m.Speak(ctx, text, o, emit)
	}}
}

// recite synthesises phrases with a voice, and returns the sound and its pieces.
func recite(t *testing.T, voice engine.Synthesizer, length time.Duration, phrases ...phrase) (pcm []float32,
	snippets []piece) {
	t.Helper()
	r := script{phrases: phrases, length: samplesOf(length, engine.SpeechRateHz),
		utterance: &utterance{voice: Voice{Synthesizer: voice}}}
	err := r.speak(t.Context(), newPlayback(), []contract.TimestampType{contract.TimestampWord}, func(p piece) error {
		pcm = append(pcm, p.pcm...)
		snippets = append(snippets, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pcm, snippets
}

func said(beginMS, endMS int, text string) phrase {
	return phrase{begin: beginMS * engine.SpeechRateHz / 1000, end: endMS * engine.SpeechRateHz / 1000, text: text}
}

// sounding returns the stretches with sound, in ms.
func sounding(pcm []float32) [][2]int {
	var all [][2]int
	last := -1 << 30
	for i, v := range pcm {
		if v < 0.01 && v > -0.01 {
			continue
		}
		if i-last > contract.OutputRateHz/40 {
			all = append(all, [2]int{i * 1000 / contract.OutputRateHz, 0})
		}
		all[len(all)-1][1] = i * 1000 / contract.OutputRateHz
		last = i
	}
	return all
}

func near(a, b, ms int) bool { return a-b <= ms && b-a <= ms }

func TestPhrasesKeepTheirTimes(t *testing.T) {
	phrases := []phrase{said(700, 1900, "twenty letters or so"), said(2400, 3000, "twelve short"),
		said(5000, 6600, "another sentence of some length")}
	pcm, snippets := recite(t, metronome{0.25, 4}, 8*time.Second, phrases...)
	if n := 8 * contract.OutputRateHz; len(pcm) != n {
		t.Errorf("%d samples; the recording is as long as %d", len(pcm), n)
	}
	got := sounding(pcm)
	if len(got) != len(phrases) {
		t.Fatalf("sound at %v", got)
	}
	for i, want := range [][2]int{{700, 1900}, {2400, 3000}, {5000, 6600}} {
		if !near(got[i][0], want[0], 15) || !near(got[i][1], want[1], 60) {
			t.Errorf("phrase %d is at %v ms; want %v", i, got[i], want)
		}
	}
	// The times of words are relative to their snippets.
	if at := snippets[0].times[0].Time.Begin; !near(int(at), 700, 15) {
		t.Errorf("the first word of the first snippet is at %d ms; want 700", at)
	}
	before := len(snippets[0].pcm) * 1000 / contract.OutputRateHz
	if at := snippets[1].times[0].Time.Begin; !near(int(at), 2400-before, 15) {
		t.Errorf("the first word of the second snippet is at %d ms; want %d", at, 2400-before)
	}
	for i, s := range snippets {
		if !s.last || s.snippet.last != (i == len(snippets)-1) || s.snippet.text != phrases[i].text ||
			*s.heard != phrases[i].text {
			t.Errorf("snippet %d: %+v", i, s.snippet)
		}
	}
}

// A voice that cannot speak as fast as the speaker is late for the next phrase and, if there is
// time, on time again for the one after it.
func TestSlowVoiceCatchesUp(t *testing.T) {
	pcm, _ := recite(t, metronome{1, 1}, 9*time.Second, said(500, 900, "forty letters that take two whole seconds"),
		said(1100, 1500, "ten letter"), said(6000, 6500, "ten letter"))
	got := sounding(pcm)
	if len(got) != 3 {
		t.Fatalf("sound at %v", got)
	}
	if !near(got[0][0], 500, 15) || got[1][0] < got[0][1]+30 || !near(got[2][0], 6000, 15) {
		t.Errorf("sound at %v; want phrases that begin at 500, behind the first, and at 6000 ms", got)
	}
}

// There is no click where a phrase is cut out of its silence.
func TestPhrasesHaveNoClicks(t *testing.T) {
	pcm, _ := recite(t, metronome{0.5, 2}, 4*time.Second, said(100, 1000, "a dozen or so"),
		said(1030, 2000, "and a dozen"), said(3500, 3990, "the last"))
	most := float32(0.3 * 2 * math.Pi * 440 / contract.OutputRateHz) // of the tone itself
	for i := 1; i < len(pcm); i++ {
		if d := pcm[i] - pcm[i-1]; d > 1.5*most || d < -1.5*most {
			t.Fatalf("a step of %.3f at %d ms", d, i*1000/contract.OutputRateHz)
		}
	}
}

func TestInaudiblePhraseIsSilence(t *testing.T) {
	mute := &enginetest.Voice{SpeakFunc: func(context.Context, string, engine.SpeakOptions,
		func(engine.Sound) error) error {
		return nil
	}}
	pcm, snippets := recite(t, mute, 2*time.Second, said(500, 900, "…"), said(1100, 1500, "—"))
	if len(pcm) != 2*contract.OutputRateHz || len(sounding(pcm)) > 0 || len(snippets) != 2 {
		t.Errorf("%d samples in %d snippets, sound at %v", len(pcm), len(snippets), sounding(pcm))
	}
}

func TestPausesSeparatePhrases(t *testing.T) {
	ms := func(begin, end int) phrase {
		p := said(begin, end, "")
		p.voiced = time.Duration(end-begin) * time.Millisecond
		return p
	}
	got := joinPhrases([]phrase{ms(0, 1000), ms(1100, 2000), ms(2300, 2350), ms(2700, 3000)})
	want := []phrase{ms(0, 2000), ms(2700, 3000)}
	want[0].voiced = 1900 * time.Millisecond
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("phrases %v; want %v", got, want)
	}
}
