package onnx

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"

	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/internal/packtest"
)

// Where a long sentence is cut must make no difference to its words. Some of these sections lost
// five words and more, depending on ten milliseconds.
func TestNoCutOfALongSentenceIsLost(t *testing.T) {
	m := openMoonshine(t)
	pcm := prompt{name: "demo-congrats", path: packtest.Recording(t, "demo-congrats")}.pcm(t)
	words := text.Words("Asterisk open source PBX. You have also installed a set of sample sounds and configuration " +
		"files that should help you to get started. Like a normal PBX")
	letters := regexp.MustCompile(`(?i)p\W+b\W+x`) // some transcripts spell it
	const ms, first, last = engine.SpeechRateHz / 1000, 3300, 5200
	step := 250
	if os.Getenv("PARLEY_FULL_TESTS") != "" {
		step = 10 // 191 sections
	}
	for at := first; at <= last; at += step {
		want := words
		if at > 4600 {
			want = words[1:] // begins within the first word
		}
		got := hear(t, m, pcm[at*ms:at*ms+12*engine.SpeechRateHz]).Text
		if in := inOrder(want, text.Words(letters.ReplaceAllString(got, "PBX"))); in < (len(want)*9+9)/10 {
			t.Errorf("12 s from %d ms on: %d of %d words in %q", at, in, len(want), got)
		}
	}
}

// inOrder returns how many words of want are in got, in order.
func inOrder(want, got []string) int {
	row := make([]int, len(got)+1)
	for _, w := range want {
		diagonal := 0
		for j, g := range got {
			above := row[j+1]
			row[j+1] = max(above, row[j])
			if w == g {
				row[j+1] = diagonal + 1
			}
			diagonal = above
		}
	}
	return row[len(got)]
}

func TestADoubtfulTranscriptionIsReplaced(t *testing.T) {
	transcript := func(tokens int, mean float64) transcription {
		return transcription{ids: make([]int64, tokens), certainty: mean * float64(tokens), steps: tokens}
	}
	voice := make([]float32, 10*engine.SpeechRateHz)
	for i := range voice {
		voice[i] = float32(0.1 * math.Sin(float64(i)/10))
	}
	for name, row := range map[string]struct {
		r    transcription
		pcm  []float32
		want bool
	}{
		"a sure one":                 {transcript(40, -0.1), voice, false},
		"an unsure one":              {transcript(40, -0.4), voice, true},
		"an unsure one of few words": {transcript(4, -0.4), voice[:2*engine.SpeechRateHz], false},
		"few tokens for the voice":   {transcript(12, -0.1), voice, true},
		"few tokens in a long silence": {transcript(12, -0.1),
			append(voice[:4*engine.SpeechRateHz:4*engine.SpeechRateHz], make([]float32, 8*engine.SpeechRateHz)...),
			false},
		"nothing heard, and nothing in": {transcript(0, 0), make([]float32, 8*engine.SpeechRateHz), false},
	} {
		if got := row.r.doubtful(row.pcm); got != row.want {
			t.Errorf("%s: doubtful %v", name, got)
		}
	}
	for name, row := range map[string]struct {
		r, o transcription
		want bool
	}{
		"surer":                       {transcript(40, -0.1), transcript(40, -0.3), true},
		"less sure":                   {transcript(40, -0.4), transcript(40, -0.3), false},
		"a bit surer and much less":   {transcript(30, -0.25), transcript(40, -0.3), false},
		"a bit less sure, much more":  {transcript(40, -0.35), transcript(30, -0.3), true},
		"much less sure and more":     {transcript(60, -0.9), transcript(30, -0.3), false},
		"something in place of silly": {transcript(30, -0.1), transcript(40, -0.9), true},
	} {
		if got := row.r.better(row.o); got != row.want {
			t.Errorf("%s: better %v", name, got)
		}
	}
}

func TestCertaintyIsTheLogarithmOfTheProbability(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		logits := make([]float32, moonshineVocab)
		for i := range logits {
			logits[i] = float32(r.NormFloat64()*3 - 5)
		}
		logits[r.IntN(len(logits))] = float32(r.Float64() * 20)
		best := argmax(logits)
		var sum float64
		for _, x := range logits {
			sum += math.Exp(float64(x) - float64(logits[best]))
		}
		if got, want := logProbability(logits, best), -math.Log(sum); math.Abs(got-want) > 0.002 {
			t.Errorf("%.4f, want %.4f", got, want)
		}
	}
}

func TestSoundIsCutWhereItIsQuiet(t *testing.T) {
	pcm := slices.Repeat([]float32{0.2, -0.2}, 5*engine.SpeechRateHz)
	from, to := 5*engine.SpeechRateHz, 5*engine.SpeechRateHz+engine.SpeechRateHz/5
	clear(pcm[from:to])
	if at := quietest(pcm); at < from || at > to {
		t.Errorf("cut at %d, the sound is quiet from %d to %d", at, from, to)
	}
	if at := quietest(pcm[:100]); at < 0 || at > 100 {
		t.Errorf("a very short sound is cut at %d", at)
	}
}
