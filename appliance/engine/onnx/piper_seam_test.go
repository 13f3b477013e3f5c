package onnx

import (
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"parley/appliance/engine"
)

// cutAnywhere are sentences cut after four to six words in the middle of a clause, as in an answer
// under time pressure.
func cutAnywhere() [][2]string {
	return [][2]string{
		{"The museum opens at", "ten in the morning and closes at six."},
		{"Breakfast is served on the", "first floor until half past nine."},
		{"Your room will be ready", "in about twenty minutes."},
		{"Would you like to book", "a table for two people this evening?"},
		{"The train to the airport", "leaves every fifteen minutes."},
		{"Please take the elevator to", "the third floor and turn left."},
		{"The weather tomorrow will be", "cold and windy with a little rain."},
		{"Children under twelve do not", "need a ticket."},
		{"There is a quiet", "garden behind the main building."},
		{"You can leave your coat", "and your bag in the cloakroom."},
		{"The painting was made in", "the last year of his life."},
		{"A doctor will call you", "back before the end of the day."},
		{"How many nights would", "you like to stay with us?"},
		{"The next guided tour begins", "at the fountain in ten minutes."},
		{"All of our bread is", "baked in the house every morning."},
		{"That seat is taken by", "a man who will be back soon."},
		{"The pharmacy across the", "street is open all night."},
		{"Press the red button if", "you need any help."},
		{"The ferry to the island takes", "about forty minutes."},
		{"You can buy the tickets", "at the desk by the entrance."},
	}
}

// How much a seam may differ from the same words in the whole sentence. A full stop in its place
// lowers the pitch by 3 to 5 semitones, lengthens the last word by a quarter of a second, and
// leaves 100 ms of silence.
const (
	seamSilenceMS = 120 // as long as before a stop ("the coat"); in any sentence
	seamPitch     = 1.5 // semitones, median
	seamLengthMS  = 80  // median
	seamLevelDB   = 3   // median
	seamStep      = 0.2 // of full scale, from sample to sample within a millisecond; an s by itself has 0.7
)

// A sentence cut within a clause continues over the cut as if it were not cut.
func TestASeamIsNotHeard(t *testing.T) {
	rt := openRuntime(t)
	for n, pack := range voices() {
		if n > 0 && os.Getenv("PARLEY_FULL_TESTS") == "" {
			break // a minute of the default voice is enough for the everyday test
		}
		t.Run(pack, func(t *testing.T) {
			p := openVoice(t, rt, pack)
			var falls, lengths, levels, steps, stops []float64
			for i, c := range cutAnywhere() {
				if i%2 > 0 && os.Getenv("PARLEY_FULL_TESTS") == "" {
					continue
				}
				s := seamOf(t, p, c)
				if s.silenceMS > seamSilenceMS {
					t.Errorf("%q: %.0f ms of silence at the seam", c, s.silenceMS)
				}
				if s.click > seamStep {
					t.Errorf("%q: a jump of %.2f at the seam", c, s.click)
				}
				falls, lengths, levels = append(falls, s.pitch), append(lengths, s.lengthMS), append(levels, s.levelDB)
				steps, stops = append(steps, s.step), append(stops, s.stopped)
			}
			t.Logf("pitch at the end %s semitones, step over the seam %s, length %s ms, level %s dB off; with a full "+
				"stop %s semitones",
				spread(falls), spread(steps), spread(lengths), spread(levels), spread(stops))
			for what, c := range map[string]struct {
				off  []float64
				most float64
			}{"pitch at the end": {falls, seamPitch}, "pitch over the seam": {steps, seamPitch},
				"length": {lengths, seamLengthMS}, "level": {levels, seamLevelDB}} {
				if m := middle(absolute(c.off)); !(m <= c.most) {
					t.Errorf("%s: %.2f off in the median, at most %g", what, m, c.most)
				}
			}
			if a, b := middle(absolute(falls)), middle(absolute(stops)); a >= b {
				t.Errorf("pitch is %.2f semitones off, no less than with a full stop (%.2f)", a, b)
			}
		})
	}
}

// seam is how a sentence in two parts differs from the whole sentence at the cut.
type seam struct {
	silenceMS, click               float64
	pitch, stopped, step, lengthMS float64 // stopped: pitch, were there a full stop
	levelDB                        float64
}

func seamOf(t *testing.T, p *Piper, c [2]string) (s seam) {
	t.Helper()
	whole := say(t, p, c[0]+" "+c[1], engine.SpeakOptions{})
	a, b := say(t, p, c[0], engine.SpeakOptions{Continues: true}),
		say(t, p, c[1], engine.SpeakOptions{Previous: c[0] + " "})
	ended := say(t, p, c[0], engine.SpeakOptions{})
	if len(a.Phonemes)+len(b.Phonemes) != len(whole.Phonemes) {
		t.Fatalf("%q: %d and %d phonemes, of %d", c, len(a.Phonemes), len(b.Phonemes), len(whole.Phonemes))
	}
	at, rate := whole.Phonemes[len(a.Phonemes)].Begin, p.RateHz()
	wa, wb := whole.PCM[:at], whole.PCM[at:]
	joined := append(slices.Clone(a.PCM), b.PCM...)
	s.silenceMS = silenceAround(joined, len(a.PCM), rate)
	for i := len(a.PCM) - rate/1000; i < len(a.PCM)+rate/1000; i++ {
		s.click = max(s.click, math.Abs(float64(joined[i]-joined[i-1])))
	}
	const near = 20 // frames of 5 ms
	end := func(pcm []float32) float64 { return middle(pitches(pcm, rate, -near)) }
	begin := func(pcm []float32) float64 { return middle(pitches(pcm, rate, near)) }
	s.pitch, s.stopped = end(a.PCM)-end(wa), end(ended.PCM)-end(wa)
	s.step = begin(b.PCM) - end(a.PCM) - (begin(wb) - end(wa))
	s.lengthMS = float64(len(a.PCM)-at) * 1000 / float64(rate)
	n := rate / 5
	s.levelDB = decibels(a.PCM[max(len(a.PCM)-n, 0):]) - decibels(wa[max(len(wa)-n, 0):])
	return s
}

// pitches returns the pitch of the first most voiced frames of pcm, one every 5 ms, or of the last
// if most is negative, in semitones over 100 Hz.
func pitches(pcm []float32, rate, most int) (semitones []float64) {
	var frames []int
	for at := 0; at+rate*30/1000+rate/65 < len(pcm); at += rate * 5 / 1000 {
		frames = append(frames, at)
	}
	if most < 0 {
		slices.Reverse(frames)
		most = -most
	}
	for _, at := range frames {
		if len(semitones) == most {
			break
		}
		if p, voiced := pitchAt(pcm, at, rate); voiced {
			semitones = append(semitones, p)
		}
	}
	return semitones
}

// pitchAt returns the pitch of a frame: the first lag whose normalized autocorrelation is near the
// best.
func pitchAt(pcm []float32, at, rate int) (semitones float64, voiced bool) {
	window, shortest, longest := rate*30/1000, rate/420, rate/65
	here := pcm[at : at+window]
	e := energy(here)
	if e/float64(window) < 1e-4 {
		return 0, false
	}
	match, best := make([]float64, longest+1), 0.
	for lag := shortest; lag <= longest; lag++ {
		there := pcm[at+lag : at+lag+window]
		var sum float64
		for i, x := range here {
			sum += float64(x) * float64(there[i])
		}
		match[lag] = sum / math.Sqrt(e*energy(there)+1e-12)
		best = max(best, match[lag])
	}
	for lag := shortest + 1; lag < longest && best > 0.6; lag++ {
		if match[lag] > 0.9*best && match[lag] >= match[lag-1] && match[lag] >= match[lag+1] {
			return 12 * math.Log2(float64(rate)/float64(lag)/100), true
		}
	}
	return 0, false
}

// silenceAround returns the length of the longest silence, below -45 dB, within 60 ms of a
// position, in ms.
func silenceAround(pcm []float32, at, rate int) (ms float64) {
	hop := rate / 500
	silent := func(i int) bool { return i >= 0 && i+hop <= len(pcm) && decibels(pcm[i:i+hop]) < -45 }
	for i := at - 30*hop; i < at+30*hop; i += hop {
		from, to := i, i
		for silent(from - hop) {
			from -= hop
		}
		for silent(to) {
			to += hop
		}
		if silent(i) {
			ms = max(ms, float64(to-from)*1000/float64(rate))
		}
	}
	return ms
}

func energy(pcm []float32) (sum float64) {
	for _, x := range pcm {
		sum += float64(x) * float64(x)
	}
	return sum
}

func decibels(pcm []float32) float64 {
	return 10 * math.Log10(energy(pcm)/float64(max(len(pcm), 1))+1e-9)
}

// middle returns the median of the numbers among x.
func middle(x []float64) float64 {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	if len(x) == 0 {
		return math.NaN()
	}
	slices.Sort(x)
	return x[len(x)/2]
}

func absolute(x []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] = math.Abs(out[i])
	}
	return out
}

func spread(x []float64) string {
	x = slices.DeleteFunc(slices.Clone(x), math.IsNaN)
	slices.Sort(x)
	if len(x) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f (%.1f to %.1f)", x[len(x)/2], x[len(x)/20], x[len(x)-1-len(x)/20])
}
