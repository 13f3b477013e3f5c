package audio

import (
	"math"

	"parley/appliance/audio/filter"
)

// How a voice is made clear and loud for 8 kHz. Of 37 sentences by each of three voices,
// Moonshine heard 5.3 % of the words wrong without any of this and 4.6 % with these values; in
// noise of -38 dB at the listener's ear, 9.3 and 6.9 % (7.4 without the shelf, 7.8 with the gain
// alone). More of either was no better. With 37 other sentences it was 6.4 and 5.6 %, and 10.2
// and 8.1 % in noise.
const (
	// phoneHighpassHz is the lower end of the telephone's band: the earpiece does not reproduce
	// what lies below it, and only the codec and the limiter notice it.
	phoneHighpassHz = 200
	// phoneShelfHz and phoneShelfDB raise the consonants.
	phoneShelfHz, phoneShelfDB = 1500, 3
	// phoneGainDB raises a voice of -23 LUFS, the default, to -19, the level of the prompts of
	// telephone systems (those of Asterisk have -19.5). wideGainDB does so for 16 kHz, where no
	// part of the voice is removed.
	phoneGainDB, wideGainDB = 6, 4
	// phoneCeiling is the highest peak, -1 dB, as of the voices themselves.
	phoneCeiling = 0.891
)

// phoneVoice makes a voice clear and loud on a telephone.
type phoneVoice struct {
	filters []filter.Biquad
	gain    float64
	limiter *Limiter
	out     []float32
}

// newPhoneVoice returns one for the sound of a codec, of 8 or 16 kHz.
func newPhoneVoice(rateHz int) *phoneVoice {
	v := &phoneVoice{gain: math.Pow(10, wideGainDB/20.), limiter: NewLimiter(rateHz, phoneCeiling)}
	if hz := float64(rateHz); rateHz == phoneBytes {
		v.gain = math.Pow(10, phoneGainDB/20.)
		v.filters = []filter.Biquad{
			filter.Highpass(hz, phoneHighpassHz, math.Sqrt2/2),
			filter.HighShelf(hz, phoneShelfHz, phoneShelfDB),
		}
	}
	v.limiter.Process(nil, make([]float32, v.limiter.ahead), false)
	return v
}

// process changes pcm, and returns as much sound, valid until the next call, late by 5 ms.
func (v *phoneVoice) process(pcm []float32) []float32 {
	for i, x := range pcm {
		y := float64(x) * v.gain
		for f := range v.filters {
			y = v.filters[f].Next(y)
		}
		pcm[i] = float32(y)
	}
	v.out = v.limiter.Process(v.out[:0], pcm, false)
	return v.out
}
