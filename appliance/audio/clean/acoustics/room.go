// Package acoustics simulates a loudspeaker and a microphone in a room, for tests and
// benchmarks: the echo of playback, with delay, reverberation, distortion by the
// loudspeaker, background noise, and the clock of another device.
package acoustics

import (
	"math"
	"math/rand/v2"
	"time"

	"parley/appliance/audio/fourier"
)

// Room is the acoustics of a room. The zero Room is silent.
type Room struct {
	RateHz int
	// Echo is the level of the echo, in dB relative to playback; -10 is a loudspeaker next to
	// the microphone, turned up.
	Echo float64
	// Latency is the delay of both devices, in addition to the sound's way through the room.
	Latency time.Duration
	// Decay is the time in which a sound falls by 60 dB: 0.3 s in a furnished room.
	Decay time.Duration
	// Bend is the third harmonic that the loudspeaker adds to a full sine, as a share of it:
	// 0.03 is a small one, turned up.
	Bend float64
	// Noise is the background noise in dB of full scale, falling by 3 dB an octave; 0 is none.
	Noise float64
	// PPM is by how much the loudspeaker's clock is faster than the microphone's.
	PPM float64
	// Seed selects one of many such rooms.
	Seed uint64
}

// Hear returns what the microphone records of the playback alone, of the same length.
func (r Room) Hear(played []float32) []float32 {
	heard := r.fade(r.speaker(played), r.response(r.Seed, 0.02))
	scale(heard, rms(played)*decibels(r.Echo)/max(rms(heard), 1e-9))
	late := int(r.Latency * time.Duration(r.RateHz) / time.Second)
	out := make([]float32, len(played))
	copy(out[min(late, len(out)):], heard)
	out = r.stretched(out)
	r.addNoise(out)
	return out
}

// Say returns what the microphone records of a person at a level (in dB of full scale, while
// speaking), who stands a few steps away in the same room.
func (r Room) Say(pcm []float32, loud float64) []float32 {
	heard := r.fade(pcm, r.response(r.Seed+1000, 0.006))
	scale(heard, decibels(loud)/max(Loud(heard, r.RateHz), 1e-9))
	return heard[:len(pcm)]
}

// response returns an impulse response: the direct sound, some reflections, and reverberation.
func (r Room) response(seed uint64, diffuse float64) []float32 {
	chance := rand.New(rand.NewPCG(seed, 7))
	n := int(r.Decay * time.Duration(r.RateHz) / time.Second)
	h := make([]float32, max(n, r.RateHz/100))
	way := r.RateHz / 500 // 70 cm
	h[way] = 1
	fade := func(i int) float64 {
		return math.Exp(-6.9 * float64(i) / float64(len(h)))
	}
	for range 8 {
		i := way + 1 + int(chance.Float64()*float64(r.RateHz)*0.025)
		if i < len(h) {
			h[i] += float32((chance.Float64() - 0.5) * fade(i))
		}
	}
	for i := way; i < len(h); i++ {
		h[i] += float32(chance.NormFloat64() * diffuse * 3 * fade(i))
	}
	return h
}

// speaker returns a sound as a small loudspeaker plays it: without bass, and with distortion
// that grows with the level.
func (r Room) speaker(pcm []float32) []float32 {
	out := make([]float32, len(pcm))
	var low float64
	turn := 1 - math.Exp(-2*math.Pi*180/float64(r.RateHz))
	for i, v := range pcm {
		x := float64(v)
		bent := x - 4*r.Bend*x*x*x // sin³ has a quarter of its energy at three times the pitch
		low += turn * (bent - low)
		out[i] = float32(bent - low)
	}
	return out
}

// stretched returns a sound as recorded by a microphone with the slower clock.
func (r Room) stretched(pcm []float32) []float32 {
	if r.PPM == 0 {
		return pcm
	}
	out := make([]float32, len(pcm))
	step := 1 + r.PPM/1e6
	for i := range out {
		out[i] = between(pcm, float64(i)*step)
	}
	return out
}

// between interpolates a sound between two samples: a sinc of 64 under a cosine window.
func between(pcm []float32, at float64) float32 {
	const side = 32
	whole := math.Floor(at)
	part := at - whole
	if part < 1e-9 {
		if int(whole) < len(pcm) {
			return pcm[int(whole)]
		}
		return 0
	}
	first := int(whole) - side + 1
	// The window's cosine turns by the same angle from each sample to the next.
	sin, cos := math.Sincos(math.Pi * (part + side - 1) / side)
	turnSin, turnCos := math.Sincos(-math.Pi / side)
	sign := math.Sin(math.Pi*part) / math.Pi // of sin(π(at-i)), i even or odd from whole
	if side%2 == 0 {
		sign = -sign // side-1 samples before whole
	}
	var sum float64
	for i := range 2 * side {
		if k := first + i; k >= 0 && k < len(pcm) {
			sum += float64(pcm[k]) * sign * (0.5 + 0.5*cos) / (part + side - 1 - float64(i))
		}
		sign = -sign
		sin, cos = sin*turnCos+cos*turnSin, cos*turnCos-sin*turnSin
	}
	return float32(sum)
}

func (r Room) addNoise(pcm []float32) {
	if r.Noise == 0 {
		return
	}
	chance := rand.New(rand.NewPCG(r.Seed, 11))
	noise := make([]float32, len(pcm))
	var b0, b1, b2 float64 // the sum of three is pink within 1 dB
	for i := range noise {
		w := chance.NormFloat64()
		b0 = 0.99765*b0 + w*0.0990460
		b1 = 0.96300*b1 + w*0.2965164
		b2 = 0.57000*b2 + w*1.0526913
		noise[i] = float32(b0 + b1 + b2 + w*0.1848)
	}
	scale(noise, decibels(r.Noise)/max(rms(noise), 1e-9))
	for i, v := range noise {
		pcm[i] += v
	}
}

// fade returns the convolution with an impulse response, computed in blocks.
func (r Room) fade(pcm, response []float32) []float32 {
	n := 1
	for n < 2*len(response) {
		n *= 2
	}
	t := fourier.New(n)
	h := make([]complex128, n)
	for i, v := range response {
		h[i] = complex(float64(v), 0)
	}
	t.Forward(h)
	out := make([]float32, len(pcm)+n)
	block := make([]complex128, n)
	step := n - len(response) + 1
	for at := 0; at < len(pcm); at += step {
		clear(block)
		for i, v := range pcm[at:min(at+step, len(pcm))] {
			block[i] = complex(float64(v), 0)
		}
		t.Forward(block)
		for i := range block {
			block[i] *= h[i]
		}
		t.Back(block)
		for i, v := range block {
			if at+i < len(out) {
				out[at+i] += float32(real(v))
			}
		}
	}
	return out[:len(pcm)]
}

// Loud returns the level of a voice while it speaks: the root mean square of the 20 ms blocks
// that are within 30 dB of the loudest.
func Loud(pcm []float32, rateHz int) float64 {
	n := rateHz / 50
	var powers []float64
	var top float64
	for i := 0; i+n <= len(pcm); i += n {
		p := rms(pcm[i:i+n]) * rms(pcm[i:i+n])
		powers, top = append(powers, p), max(top, p)
	}
	var sum, count float64
	for _, p := range powers {
		if p > top/1000 {
			sum, count = sum+p, count+1
		}
	}
	return math.Sqrt(sum / max(count, 1))
}

func rms(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(max(len(pcm), 1)))
}

func scale(pcm []float32, by float64) {
	for i := range pcm {
		pcm[i] *= float32(by)
	}
}

func decibels(db float64) float64 { return math.Pow(10, db/20) }
