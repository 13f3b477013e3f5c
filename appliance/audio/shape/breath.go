package shape

import (
	"math"
	"math/rand/v2"

	"parley/appliance/audio/filter"
	"parley/appliance/audio/prediction"
)

const (
	// breathSpan is how long a throat is taken to hold still: 20 ms, of which each
	// half is in two windows.
	breathSpan = 20 // ms
	// breathOrder is how many poles describe a throat: two for each of its
	// resonances under 11 kHz, about one a kHz, and some for the lips.
	breathOrder = 26
	// lifted and sunk are the first-order emphasis under which a throat is
	// described, and what of it is taken back: a whisper has less of what is low
	// than a voice, by about 6 dB an octave.
	lifted, sunk = 0.92, 0.4
	// airHz is from where on breath is heard in a voice that sounds, too.
	airHz = 1200
)

// breath puts breath into a voice, or makes a whisper of it: noise, shaped by the
// resonances of the throat as linear prediction finds them, in place of the voice.
type breath struct {
	amount float64
	span   int // samples, even
	window []float64
	random *rand.Rand
	in     []float32 // and span samples before
	voiced []float32
	noise  []float64 // as far as it was made
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

// process takes sound and how much of it is voice, and returns what is finished:
// all but the last span, until the end.
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
	n := at // up to there both windows are in
	if end {
		n = min(n, ready)
	}
	if n <= half && !end {
		return b.give(0, 0)
	}
	return b.give(half, max(n, half))
}

// give returns the sound from one place in the buffers to another, and forgets
// what lies before.
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

// fill lays noise into a span that begins at a place.
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
	// The filter is let run in before it is heard.
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
