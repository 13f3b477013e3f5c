package audio

import "parley/appliance/audio/filter"

const (
	phoneHighpassHz = 200
	phoneCeiling    = 0.891
)

// phoneVoice makes a voice clear and loud on a telephone.
type phoneVoice struct {
	highpass filter.Biquad
	limiter  *Limiter
	out      []float32
}

func newPhoneVoice(rateHz int) *phoneVoice {
	v := &phoneVoice{
		highpass: filter.Highpass(float64(rateHz), phoneHighpassHz, 0.7071),
		limiter:  NewLimiter(rateHz, phoneCeiling),
	}
	v.limiter.Process(nil, make([]float32, v.limiter.ahead), false)
	return v
}

// process changes pcm, and returns as much sound, valid until the next call, late by 5 ms.
func (v *phoneVoice) process(pcm []float32) []float32 {
	for i, x := range pcm {
		pcm[i] = float32(v.highpass.Next(float64(x)))
	}
	v.out = v.limiter.Process(v.out[:0], pcm, false)
	return v.out
}
