package audio

import "math"

const (
	// downmixBlock is how often the channels are compared, and downmixWindow over how much
	// sound: a word or two, so that a single consonant does not decide.
	downmixBlock  = 0.01 // seconds
	downmixWindow = 0.3
	// maxMeanChannels is the largest number of channels that are averaged: stereo. More channels
	// come from a device that offers all it has, though only one or two have a microphone, or from
	// a film, whose voices are in one of them.
	maxMeanChannels = 2
	// cancelled is the energy of the mean, relative to the loudest channel, below which that
	// channel is used alone: the other one cancels it (it is inverted, as with a balanced
	// microphone on a stereo jack). If the other is silent, the mean has a quarter, and is
	// used. restored is where the mean is used again.
	cancelled = 0.1
	restored  = 0.2
	// louder is how many times the energy of the current channel another one needs to replace
	// it.
	louder = 2
	// downmixQuiet is the energy below which nothing is compared, -70 dB.
	downmixQuiet = 1e-7
	// downmixFade is how long a change takes, to avoid a click.
	downmixFade = 0.005 // seconds
	// downmixLow is the frequency below which nothing counts: an offset is not sound.
	downmixLow = 30 // Hz
)

// Downmix mixes several channels to one: two to their mean, or to the louder one where they
// cancel each other, and more to the loudest. The output depends only on earlier frames.
type Downmix struct {
	channels int
	block    int // frames
	low      float32
	decay    float32
	fade     int // frames

	at      int       // frame within the block
	offset  []float32 // of each channel, and last of the mean: the part below downmixLow
	energy  []float32 // likewise, of the rest
	weights []float32 // of each channel, during a change
	fading  int       // frames until the change is complete
	only    int       // the channel used alone; -1: the mean of all, or none yet
}

// NewDownmix returns a mixer for sound with that many channels at that rate.
func NewDownmix(channels, rateHz int) *Downmix {
	d := &Downmix{
		channels: channels,
		block:    int(downmixBlock * float64(rateHz)),
		low:      float32(2 * math.Pi * downmixLow / float64(rateHz)),
		decay:    float32(math.Exp(-downmixBlock / downmixWindow)),
		fade:     int(downmixFade*float64(rateHz)) + 1,
		offset:   make([]float32, channels+1),
		energy:   make([]float32, channels+1),
		weights:  make([]float32, channels),
		only:     -1,
	}
	if channels <= maxMeanChannels {
		for i := range d.weights {
			d.weights[i] = d.target(i)
		}
	}
	return d
}

// Mix appends the sound of complete frames of interleaved channels.
func (d *Downmix) Mix(out, frames []float32) []float32 {
	if d.channels == 1 {
		return append(out, frames...)
	}
	for ; len(frames) >= d.channels; frames = frames[d.channels:] {
		out = append(out, d.frame(frames[:d.channels]))
	}
	return out
}

func (d *Downmix) frame(x []float32) (heard float32) {
	sum := float32(0)
	for i, v := range x {
		sum += v
		d.measure(i, v)
	}
	mean := sum / float32(d.channels)
	d.measure(d.channels, mean)
	switch {
	case d.fading > 0:
		d.fading--
		for i, v := range x {
			heard += d.weight(i) * v
		}
	case d.only >= 0:
		heard = x[d.only]
	case d.channels > maxMeanChannels: // no channel has a voice yet
		heard = x[d.loudest()]
	default:
		heard = mean
	}
	if d.at++; d.at == d.block {
		d.compare()
	}
	return heard
}

// loudest returns the channel with the most energy.
func (d *Downmix) loudest() int {
	best := 0
	for i, e := range d.energy[:d.channels] {
		if e > d.energy[best] {
			best = i
		}
	}
	return best
}

// measure adds a sample to the energy of a channel.
func (d *Downmix) measure(i int, v float32) {
	d.offset[i] += d.low * (v - d.offset[i])
	v -= d.offset[i]
	d.energy[i] += v * v
}

// target returns the final weight of a channel.
func (d *Downmix) target(i int) float32 {
	switch d.only {
	case -1:
		return 1 / float32(d.channels)
	case i:
		return 1
	}
	return 0
}

// weight moves the weight of a channel towards its target.
func (d *Downmix) weight(i int) float32 {
	step := 1 / float32(d.fade)
	d.weights[i] += min(max(d.target(i)-d.weights[i], -step), step)
	return d.weights[i]
}

// compare selects the channels for the next block.
func (d *Downmix) compare() {
	d.at = 0
	loudest := d.loudest()
	loudestEnergy, mean := d.energy[loudest], d.energy[d.channels]
	switch many := d.channels > maxMeanChannels; {
	case loudestEnergy < downmixQuiet*float32(d.block)/(1-d.decay):
	case many && d.only < 0: // it was used already, so nothing changes
		d.only, d.weights[loudest] = loudest, 1
	case d.only < 0 && mean < cancelled*loudestEnergy:
		d.choose(loudest)
	case d.only >= 0 && !many && mean > restored*loudestEnergy:
		d.choose(-1)
	case d.only >= 0 && loudestEnergy > louder*d.energy[d.only]:
		d.choose(loudest)
	}
	for i := range d.energy {
		d.energy[i] *= d.decay
	}
}

// choose switches to one channel, or to the mean, with a fade.
func (d *Downmix) choose(only int) { d.only, d.fading = only, d.fade }
