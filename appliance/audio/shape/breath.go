package shape

import (
	"math"
	"math/rand/v2"

	"parley/appliance/audio/filter"
	"parley/appliance/audio/prediction"
)

const (
	// breathSpan is how long the vocal tract is assumed to be constant: 20 ms, each half of
	// which is in two windows.
	breathSpan = 20 // ms
	// breathOrder is the number of poles that model a vocal tract: two for each resonance below
	// 11 kHz, about one per kHz, and some for the lips.
	breathOrder = 26
	// lifted is the pre-emphasis for the model, and sunk how much of it is undone: a whisper
	// has less low frequencies than a voice, by about 6 dB an octave.
	lifted, sunk = 0.92, 0.4
	// airHz is the frequency above which breath is audible in a voiced sound.
	airHz = 1200
)

// breath adds breath to a voice, or turns it into a whisper: noise shaped by the resonances of
// the vocal tract, found by linear prediction, replaces the voice.
type breath struct {
	amount float64
	span   int // samples, even
	window []float64
	random *rand.Rand
	in     []float32 // with span samples of the past
	voiced []float32
	noise  []float64 // as far as computed
	air    [2]filter.Biquad
}

func newBreath(rateHz int, amount float64) *breath {
	span := rateHz * breathSpan / 2000 * 2
	b := &breath{
		amount: amount,
		span:   span,
		window: make([]float64, span),
		random: rand.New(rand.NewPCG(3, 4)),
	}
	for i := range b.window {
		b.window[i] = math.Sin(math.Pi * (float64(i) + 0.5) / float64(span))
	}
	b.in, b.voiced, b.noise = make([]float32, span/2), make([]float32, span/2), make([]float64, span/2)
	for i := range b.air {
		b.air[i] = filter.Highpass(float64(rateHz), airHz, math.Sqrt2/2)
	}
	return b
}

// process takes sound and the voiced share of each sample, and returns the finished sound: all
// but the last span, until the end.
func (b *breath) process(pcm, voiced []float32, end bool) []float32 {
	b.in, b.voiced = append(b.in, pcm...), append(b.voiced, voiced...)
	ready := len(b.in)
	if end {
		b.in, b.voiced = append(b.in, make([]float32, b.span)...), append(b.voiced, make([]float32, b.span)...)
	}
	half := b.span / 2
	at := 0
	for ; at+b.span <= len(b.in); at += half {
		b.noise = append(b.noise, make([]float64, at+b.span-len(b.noise))...)
		b.fill(at)
	}
	n := at // up to here both windows are complete
	if end {
		n = min(n, ready)
	}
	if n <= half && !end {
		return b.give(0, 0)
	}
	return b.give(half, max(n, half))
}

// give returns the sound between two positions of the buffers, and discards what precedes it.
func (b *breath) give(from, to int) []float32 {
	if to <= from {
		return nil
	}
	out := make([]float32, to-from)
	for i := range out {
		x, v := float64(b.in[from+i]), b.amount*float64(b.voiced[from+i])
		n := b.noise[from+i]
		if b.amount < 1 {
			n = b.air[1].Next(b.air[0].Next(n)) * 1.4
		}
		out[i] = float32(x*math.Sqrt(1-min(v, 1)) + n*math.Sqrt(v))
	}
	keep := to - from
	b.in, b.voiced = append(b.in[:0], b.in[keep:]...), append(b.voiced[:0], b.voiced[keep:]...)
	b.noise = append(b.noise[:0], b.noise[keep:]...)
	return out
}

// fill adds noise to the span at a position.
func (b *breath) fill(at int) {
	frame := make([]float64, b.span)
	var energy float64
	for i := range frame {
		x := float64(b.in[at+i])
		energy += x * x
		if i > 0 {
			x -= lifted * float64(b.in[at+i-1])
		}
		frame[i] = x * b.window[i] * b.window[i]
	}
	if energy < quietest*float64(b.span) {
		return
	}
	var r, poles [breathOrder + 1]float64
	prediction.Correlate(r[:], frame)
	if prediction.Solve(poles[:], r[:], 1e-5) <= 0 { // noise 50 dB below
		return
	}
	// The filter settles before its output is used.
	const warm = 4 * breathOrder
	var said, before float64
	made := make([]float64, b.span)
	past := make([]float64, breathOrder) // the newest first, in a ring
	newest := 0
	for i := -warm; i < b.span; i++ {
		y := b.random.NormFloat64()
		for k, a := range poles[1:] {
			y -= a * past[(newest+k)%breathOrder]
		}
		newest = (newest + breathOrder - 1) % breathOrder
		past[newest] = y
		before = y + sunk*before
		if i >= 0 {
			made[i] = before
			said += before * before
		}
	}
	level := math.Sqrt(energy / max(said, 1e-12))
	for i, x := range made {
		b.noise[at+i] += x * level * b.window[i]
	}
}
