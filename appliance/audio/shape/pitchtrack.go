package shape

import "math"

const (
	// lowestHz and highestHz are the range of voices: from a deep man's to a child's that
	// calls.
	lowestHz, highestHz = 65, 520
	// trackHz is about the rate at which the pitch is searched: a fundamental has nothing
	// above.
	trackHz = 6000
	// trackHop is how often the pitch is searched, and trackSpan in how much sound: two periods
	// of a man's voice.
	trackHop, trackSpan = 5, 20 // ms
	// onset is the likeness of consecutive periods at which a voice begins, and stay the one
	// above which it continues.
	onset, stay = 0.55, 0.4
	// quietest is the energy below which nothing is voiced, -60 dB.
	quietest = 1e-6
	// octave is how good a shorter period must be relative to the best: all multiples of a
	// voice's period are periods too.
	octave = 0.88
)

// pitchTrack follows the pitch of a voice, by the normalized cross-correlation of the sound
// with itself a period later (Talkin, "A Robust Algorithm for Pitch Tracking", 1995), at a low
// rate.
type pitchTrack struct {
	step    int       // input samples per sample of low
	hop     int       // samples from one frame to the next
	rateHz  float64   // of low
	low     []float32 // input samples that are in low
	taken   int       // the sum of the last samples added to low
	before  float32   // of the frames, in input samples; 0: unvoiced
	periods []float32 // of the frames, in samples of the sound; 0: no voice
	was     float64   // the period in the last frame, in samples of low
	forgot  int       // discarded samples of low
}

func newPitchTrack(rateHz int) *pitchTrack {
	t := &pitchTrack{step: max(rateHz/trackHz, 1)}
	t.rateHz = float64(rateHz) / float64(t.step)
	t.hop = rateHz * trackHop / 1000
	return t
}

// reach returns how many samples beyond its middle a frame needs.
func (t *pitchTrack) reach() int {
	return int((t.rateHz*trackSpan/1000+t.rateHz/lowestHz)/2+3) * t.step
}

// follow takes the available part of a stream and finds the pitch as far as it can be known; at
// the end, everywhere.
func (t *pitchTrack) follow(pcm []float32, begin int, end bool) {
	for at := t.taken; at+t.step <= begin+len(pcm); at += t.step {
		var sum float32
		for _, x := range pcm[at-begin : at-begin+t.step] {
			sum += x
		}
		t.low = append(t.low, (t.before+sum)/float32(2*t.step)) // averaged twice: higher frequencies are 25 dB down
		t.before = sum
		t.taken = at + t.step
	}
	for {
		middle := len(t.periods) * t.hop
		if !end && middle+t.reach() > t.taken || middle > begin+len(pcm) {
			return
		}
		t.periods = append(t.periods, float32(t.period(middle/t.step-t.forgot)*float64(t.step)))
	}
}

// period returns the period of the voice around a position in low; 0 if unvoiced.
func (t *pitchTrack) period(at int) float64 {
	n := int(t.rateHz * trackSpan / 1000)
	shortest, longest := int(t.rateHz/highestHz), int(t.rateHz/lowestHz)
	likeness := make([]float64, longest+2)
	best := 0.0
	for lag := shortest; lag <= longest+1; lag++ {
		likeness[lag] = t.likeness(at-(n+lag)/2, n, lag)
		if lag <= longest {
			best = max(best, likeness[lag])
		}
	}
	need := onset
	if t.was > 0 {
		need = stay
	}
	if best < need {
		t.was = 0
		return 0
	}
	chosen := 0
	for lag := shortest + 1; lag <= longest; lag++ {
		l := likeness[lag]
		if l < likeness[lag-1] || l < likeness[lag+1] || l < octave*best {
			continue
		}
		if chosen == 0 || t.was > 0 && math.Abs(math.Log2(float64(lag)/t.was)) < 0.2 &&
			math.Abs(math.Log2(float64(chosen)/t.was)) > 0.4 {
			chosen = lag
		}
	}
	if chosen == 0 {
		t.was = 0
		return 0
	}
	a, b, c := likeness[chosen-1], likeness[chosen], likeness[chosen+1]
	exact := float64(chosen)
	if bend := a - 2*b + c; bend < 0 {
		exact += 0.5 * (a - c) / bend
	}
	t.was = exact
	return exact
}

// likeness returns how much n samples of low resemble those lag later, -1 to 1.
func (t *pitchTrack) likeness(from, n, lag int) float64 {
	begin, end := max(from, 0), min(from+n, len(t.low)-lag)
	if end-begin < n/2 {
		return 0
	}
	var xy, xx, yy float32
	x, y := t.low[begin:end], t.low[begin+lag:end+lag]
	for i, v := range x {
		xy += v * y[i]
		xx += v * v
		yy += y[i] * y[i]
	}
	if limit := float32(quietest * float64(end-begin)); xx < limit || yy < limit {
		return 0
	}
	return float64(xy) / math.Sqrt(float64(xx)*float64(yy))
}

// known returns the sample up to which the pitch is known.
func (t *pitchTrack) known() int { return (len(t.periods) - 1) * t.hop }

// at returns the period at a sample, in samples; 0 if unvoiced.
func (t *pitchTrack) at(sample int) float64 {
	i := (sample + t.hop/2) / t.hop
	if i < 0 || i >= len(t.periods) {
		return 0
	}
	return float64(t.periods[i])
}

// forget discards what lies far before a sample.
func (t *pitchTrack) forget(before int) {
	keep := before/t.step - t.forgot - 2*t.reach()/t.step
	if keep > len(t.low)/2 && keep > 0 {
		t.low = append(t.low[:0], t.low[keep:]...)
		t.forgot += keep
	}
}
