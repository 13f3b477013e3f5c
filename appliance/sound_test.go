package appliance

import (
	"math"
	"slices"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/engine"
)

const (
	// matchHz is enough to tell voices apart, at little cost.
	matchHz = 8000
	// matchWindow is as long as a syllable; two different syllables do not match.
	matchWindow = matchHz / 4
	// matchDrift is how far sound may move relative to the sound before it: a sender on a
	// busy machine makes pauses.
	matchDrift = 3 * matchHz
	// voiced is how loud a window must be to be compared: that of a soft voice.
	voiced = 0.02
)

// match is a window of sent sound, and how well it matches a recording at best.
type match struct {
	sent     time.Duration
	likeness float64 // 1 if equal apart from the loudness
}

// matched searches a recording for a sound, both at 16 kHz. It compares the windows that
// are loud enough.
func matched(sound, recording []float32) (all []match) {
	sound, recording = audio.Resample(sound, engine.SpeechRateHz, matchHz),
		audio.Resample(recording, engine.SpeechRateHz, matchHz)
	energy := make([]float64, len(recording)+1) // sum up to each sample
	for i, v := range recording {
		energy[i+1] = energy[i] + float64(v)*float64(v)
	}
	from, to := 0, len(recording)
	for at := 0; at+matchWindow <= len(sound); at += matchWindow {
		window := sound[at : at+matchWindow]
		own := product(window, window)
		if math.Sqrt(own/matchWindow) < voiced {
			continue
		}
		best, position := 0.0, 0
		for i := max(0, from+at); i+matchWindow <= min(len(recording), to+at); i++ {
			if e := energy[i+matchWindow] - energy[i]; e > matchWindow*voiced*voiced/100 {
				if like := product(window, recording[i:]) / math.Sqrt(own*e); like > best {
					best, position = like, i
				}
			}
		}
		all = append(all, match{time.Duration(at) * time.Second / matchHz, best})
		if best > same {
			from, to = position-at-matchDrift, position-at+matchDrift+matchWindow
		}
	}
	return all
}

const (
	// same is the least likeness of a sound and its recording when nobody else speaks: Opus
	// leaves 0.98.
	same = 0.9
	// other is the most likeness of different speech: of some hundred windows the highest
	// was 0.72, between two vowels of the same voice.
	other = 0.8
)

// heardFraction returns the fraction of a sound that a recording has.
func heardFraction(windows []match) float64 {
	heard := 0
	for _, m := range windows {
		if m.likeness >= same {
			heard++
		}
	}
	return float64(heard) / float64(max(1, len(windows)))
}

// wantHeard checks that a recording has nine of ten windows of a sound; a sender that was
// held up may have paused within one.
func wantHeard(t *testing.T, what string, windows []match) {
	t.Helper()
	if heardFraction(windows) < 0.9 {
		t.Errorf("%s is not heard: %v", what, windows)
	}
}

// The tests of recordings rely on this: lost sound is noticed, and other sound is not
// mistaken for it.
func TestLostSoundIsNoticed(t *testing.T) {
	recording := recordingPCM(t, question)
	at := func(d time.Duration) int { return int(d * engine.SpeechRateHz / time.Second) }
	late := append(make([]float32, at(1700*time.Millisecond)), recording...)
	for i := range late {
		late[i] *= 0.5
	}
	if got := heardFraction(matched(recording, late)); got < 1 {
		t.Errorf("of what is played late and softly %.2f is heard", got)
	}
	for from := 250 * time.Millisecond; from < 3500*time.Millisecond; from += 750 * time.Millisecond {
		lost := slices.Clone(recording)
		clear(lost[at(from):at(from+750*time.Millisecond)])
		if got := heardFraction(matched(recording, lost)); got >= 0.9 {
			t.Errorf("without the speech from %v on, %.2f is heard", from, got)
		}
	}
	if got := heardFraction(matched(recording, recordingPCM(t, "vm-intro"))); got > 0 {
		t.Errorf("%.2f is heard in other speech", got)
	}
}

// wantUnheard checks that a recording has nothing of a sound.
func wantUnheard(t *testing.T, what string, windows []match) {
	t.Helper()
	for _, m := range windows {
		if m.likeness >= other {
			t.Errorf("%s is heard: its %v is like something by %.2f", what, m.sent, m.likeness)
		}
	}
}

// product returns the dot product. It has four sums, which a processor computes in
// parallel: with one, each addition would wait for the one before.
func product(a, b []float32) float64 {
	var sums [4]float64
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		sums[0] += float64(a[0] * b[0])
		sums[1] += float64(a[1] * b[1])
		sums[2] += float64(a[2] * b[2])
		sums[3] += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		sums[0] += float64(v * b[i])
	}
	return sums[0] + sums[1] + sums[2] + sums[3]
}
