package audio

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLimiterLimitsPeaksOnly(t *testing.T) {
	pcm := make([]float32, 24000)
	for i := range pcm {
		pcm[i] = float32(0.4 * math.Sin(2*math.Pi*150*float64(i)/24000))
	}
	quiet := NewLimiter(24000, 0.9).Process(nil, pcm, true)
	if !slices.Equal(quiet, pcm) {
		t.Error("samples below the ceiling are changed")
	}
	loud := make([]float32, len(pcm))
	for i, x := range pcm {
		loud[i] = 6 * x
	}
	l := NewLimiter(24000, 0.9)
	var out []float32
	for piece := range slices.Chunk(loud, 777) {
		out = l.Process(out, piece, false)
	}
	out = l.Process(out, nil, true)
	if len(out) != len(loud) {
		t.Fatalf("%d samples of %d", len(out), len(loud))
	}
	for i, x := range out {
		if x > 0.9 || x < -0.9 {
			t.Fatalf("sample %d is %g", i, x)
		}
	}
}

// At a higher rate, a signal has values between the samples.
func TestLimiterLimitsInterSamplePeaks(t *testing.T) {
	pcm := make([]float32, 24000)
	for i := range pcm { // a quarter of a wave each: its crests are between the samples, at 1.2
		pcm[i] = float32(1.2 * math.Sin(math.Pi/2*float64(i)+math.Pi/4) * min(1, float64(i)/2400))
	}
	l := NewLimiter(24000, 0.9)
	held := l.Process(nil, pcm[:7000], false)
	held = l.Process(held, pcm[7000:], true)
	peak := float32(0)
	for _, x := range Resample(held, 24000, 48000) {
		peak = max(peak, x, -x)
	}
	if peak > 0.9*1.04 || peak < 0.9*0.9 || len(held) != len(pcm) {
		t.Errorf("%d samples reach %.3f, want %d up to 0.9", len(held), peak, len(pcm))
	}
}

// A voice with hiss has most of its crests between its samples.
func TestLimiterLimitsHiss(t *testing.T) {
	const rateHz, ceiling = 22050, 0.891
	r := rand.New(rand.NewPCG(7, 7))
	var waves [60][2]float64 // of 4 to 9.9 kHz: frequency and phase
	for i := range waves {
		waves[i] = [2]float64{4000 + 5900*r.Float64(), 2 * math.Pi * r.Float64()}
	}
	pcm := make([]float32, 2*rateHz)
	for i := range pcm {
		for _, w := range waves {
			pcm[i] += float32(0.2 * math.Sin(2*math.Pi*w[0]*float64(i)/rateHz+w[1]))
		}
	}
	held := NewLimiter(rateHz, ceiling).Process(nil, pcm, true)
	for i := range rateHz / 100 { // it begins and ends in silence, as voices do
		x := float32(i) / (rateHz / 100)
		held[i] *= x
		held[len(held)-1-i] *= x
	}
	peak := float32(0)
	for _, x := range Resample(held, rateHz, 4*48000) {
		peak = max(peak, x, -x)
	}
	if peak > 1 || peak < 0.8 {
		t.Errorf("it reaches %.3f of full scale; want 1 at most, and not far below %.2f", peak, ceiling)
	}
}
