// Package shape alters how a voice sounds: its pitch, resonances, tone, breath and pauses.
package shape

import (
	"math"

	"parley/appliance/audio/filter"
)

const (
	brightHz, warmHz = 3000, 300 // corner frequencies of the tone filters
	// loudnessTime is the time over which the loudness is compared, and maxCompensationDB the largest
	// compensation in dB.
	loudnessTime      = 0.4 // s
	maxCompensationDB = 14
)

// Shaper alters a voice in a stream: its pitch, resonances and irregularity by psola, then
// breath, tone and pauses. It restores the loudness, and adds Settings.Gain. It holds back at
// most 80 ms of a stream.
type Shaper struct {
	psola  *psola  // nil: not needed
	breath *breath // nil: not needed
	tones  []filter.Biquad
	keeper *loudnessKeeper
	gain   float32
	pauses *pausing
}

// New returns a Shaper for a stream at a rate, of a voice with the mean pitch meanHz; 0 means
// that the Shaper finds it out.
func New(rateHz int, s Settings, meanHz float64) *Shaper {
	p := &Shaper{
		keeper: newLoudnessKeeper(rateHz), gain: float32(math.Pow(10, s.Gain/20)), pauses: newPausing(rateHz, s.Pauses),
	}
	if s.Pitch != 0 || s.Formant != 0 || s.Range != 0 || s.Breath != 0 || s.Rough != 0 {
		p.psola = newPSOLA(rateHz, s, meanHz)
	}
	if s.Breath > 0 {
		p.breath = newBreath(rateHz, s.Breath)
	}
	if s.Brightness != 0 {
		p.tones = append(p.tones, filter.HighShelf(float64(rateHz), brightHz, s.Brightness))
	}
	if s.Warmth != 0 {
		p.tones = append(p.tones, filter.LowShelf(float64(rateHz), warmHz, s.Warmth))
	}
	return p
}

// Process adds pcm to the stream and returns the finished sound; at the end, all of it. It may
// modify pcm.
func (s *Shaper) Process(pcm []float32, end bool) []float32 {
	s.keeper.before(pcm)
	out, voiced := pcm, []float32(nil)
	if s.psola != nil {
		out, voiced = s.psola.process(pcm, end)
	}
	if s.breath != nil {
		out = s.breath.process(out, voiced, end)
	}
	for t := range s.tones {
		for i, x := range out {
			out[i] = float32(s.tones[t].Next(float64(x)))
		}
	}
	s.keeper.restore(out)
	for i := range out {
		out[i] *= s.gain
	}
	return s.pauses.process(out, end)
}

// Moved returns the output position of a processed input sample.
func (s *Shaper) Moved(at int) int { return s.pauses.moved(at) }

// loudnessKeeper restores the loudness that a stream had before processing: it compares the
// power of both, weighted as in BS.1770, over a short time.
type loudnessKeeper struct {
	was, is    [2]filter.Biquad
	powers     []float32 // of the input that has not been output yet
	old, new   float64   // mean powers
	fade, gain float64
}

func newLoudnessKeeper(rateHz int) *loudnessKeeper {
	k := &loudnessKeeper{fade: math.Exp(-1 / (loudnessTime * float64(rateHz)))}
	k.was[0], k.was[1] = filter.KWeighting(float64(rateHz))
	k.is[0], k.is[1] = filter.KWeighting(float64(rateHz))
	return k
}

func (k *loudnessKeeper) before(pcm []float32) {
	for _, x := range pcm {
		y := k.was[1].Next(k.was[0].Next(float64(x)))
		k.powers = append(k.powers, float32(y*y))
	}
}

func (k *loudnessKeeper) restore(out []float32) {
	// Sound that is output together is measured before any of it gets its gain, so that a
	// beginning is as loud as what follows.
	const floor = 1e-9
	for i, x := range out {
		y := k.is[1].Next(k.is[0].Next(float64(x)))
		k.old = k.old*k.fade + float64(k.powers[i])*(1-k.fade)
		k.new = k.new*k.fade + y*y*(1-k.fade)
	}
	k.powers = append(k.powers[:0], k.powers[len(out):]...)
	limit := math.Pow(10, maxCompensationDB/20.)
	want := min(max(math.Sqrt((k.old+floor)/(k.new+floor)), 1/limit), limit)
	from := k.gain
	if from == 0 {
		from = want
	}
	for i := range out {
		k.gain = from + (want-from)*float64(i+1)/float64(len(out))
		out[i] *= float32(k.gain)
	}
}
