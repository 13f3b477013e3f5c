package audio

import "math"

const (
	// downmixBlock is how often the channels are compared, and downmixWindow over how
	// much sound: a word or two, so that no consonant decides.
	downmixBlock  = 0.01 // seconds
	downmixWindow = 0.3
	// cancelled is the energy of the mean beside that of the loudest channel under
	// which that one is heard alone: the others work against it (the right one of two
	// is the left one inverted, as a balanced microphone on a stereo jack is), or are
	// silent in a stream of four and more. Of two channels of which one is silent the
	// mean has a quarter, and stays. restored is where it is heard again.
	cancelled = 0.1
	restored  = 0.2
	// louder is how many times as much energy another channel has to have before it
	// takes the place of the one that is heard.
	louder = 2
	// downmixQuiet is the energy under which nothing is compared, -70 dB.
	downmixQuiet = 1e-7
	// downmixFade is how long a change takes, so that it does not click.
	downmixFade = 0.005 // seconds
	// downmixLow is under which frequency nothing counts: an offset is no sound.
	downmixLow = 30 // Hz
)

// A downmix makes one channel of several: their mean, or the loudest where they
// cancel each other out. What comes of a frame depends on those before it alone.
type downmix struct {
	channels int
	block    int // frames
	low      float32
	decay    float32
	fade     float32

	at      int       // frame of the block
	offset  []float32 // of each channel, and of the mean behind them: what is under downmixLow
	energy  []float32 // likewise, without that
	weights []float32 // with which each channel is heard
	only    int       // the channel that is heard alone; -1: all
}

func newDownmix(channels, rateHz int) *downmix {
	d := &downmix{
		channels: channels,
		block:    int(downmixBlock * float64(rateHz)),
		low:      float32(2 * math.Pi * downmixLow / float64(rateHz)),
		decay:    float32(math.Exp(-downmixBlock / downmixWindow)),
		fade:     float32(1 / (downmixFade * float64(rateHz))),
		offset:   make([]float32, channels+1),
		energy:   make([]float32, channels+1),
		weights:  make([]float32, channels),
		only:     -1,
	}
	for i := range d.weights {
		d.weights[i] = 1 / float32(channels)
	}
	return d
}

// mix appends the sound of whole frames, whose channels are interleaved.
func (d *downmix) mix(out, frames []float32) []float32 {
	if d.channels == 1 {
		return append(out, frames...)
	}
	for ; len(frames) >= d.channels; frames = frames[d.channels:] {
		out = append(out, d.frame(frames[:d.channels]))
	}
	return out
}

func (d *downmix) frame(x []float32) (heard float32) {
	sum := float32(0)
	for i, v := range x {
		sum += v
		d.measure(i, v)
		heard += d.weight(i) * v
	}
	d.measure(d.channels, sum/float32(d.channels))
	if d.at++; d.at == d.block {
		d.compare()
	}
	return heard
}

// measure adds a sample to the energy of a channel.
func (d *downmix) measure(i int, v float32) {
	d.offset[i] += d.low * (v - d.offset[i])
	v -= d.offset[i]
	d.energy[i] += v * v
}

// weight moves that of a channel towards where it should be.
func (d *downmix) weight(i int) float32 {
	target := float32(0)
	switch d.only {
	case -1:
		target = 1 / float32(d.channels)
	case i:
		target = 1
	}
	d.weights[i] += min(max(target-d.weights[i], -d.fade), d.fade)
	return d.weights[i]
}

// compare chooses what is heard from here on.
func (d *downmix) compare() {
	d.at = 0
	loudest := 0
	for i, e := range d.energy[:d.channels] {
		if e > d.energy[loudest] {
			loudest = i
		}
	}
	most, mean := d.energy[loudest], d.energy[d.channels]
	switch {
	case most < downmixQuiet*float32(d.block)/(1-d.decay):
	case d.only < 0 && mean < cancelled*most:
		d.only = loudest
	case d.only >= 0 && mean > restored*most:
		d.only = -1
	case d.only >= 0 && most > louder*d.energy[d.only]:
		d.only = loudest
	}
	for i := range d.energy {
		d.energy[i] *= d.decay
	}
}
