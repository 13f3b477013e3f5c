package audio

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var usualRatios = [][2]int{
	{22050, 48000}, {24000, 48000}, {8000, 16000}, {48000, 16000}, {44100, 16000},
	{16000, 48000}, {48000, 8000}, {44100, 48000}, {48000, 44100}, {11025, 48000},
	{192000, 16000}, {47999, 16000}, {16000, 15999}, {384000, 4000},
}

// middle removes the ends, where the filter extends into the silence outside.
func middle(pcm []float32) []float32 { return pcm[len(pcm)/4 : len(pcm)*3/4] }

func TestTonesBelowTheTransitionPassUnchanged(t *testing.T) {
	for _, r := range usualRatios {
		from, to := r[0], r[1]
		low := float64(min(from, to))
		for _, part := range []float64{0.01, 0.1, 0.25, 0.4, 0.45} {
			hz := part * low
			n := int(800 * max(1, float64(from)/float64(to)))
			got := Resample(tone(hz, 0.5, from, n), from, to)
			want := tone(hz, 0.5, to, len(got))
			if s := snr(middle(got), middle(want)); s < 75 {
				t.Errorf("%d→%d: a tone of %.0f Hz differs from itself by %.1f dB; want 75 or more", from, to, hz, s)
			}
			if g := decibels(rms(middle(got)) / rms(middle(want))); math.Abs(g) > 0.01 {
				t.Errorf("%d→%d: a tone of %.0f Hz changes by %.4f dB", from, to, hz, g)
			}
		}
	}
}

func TestNoAliasesWhenTheRateIsReduced(t *testing.T) {
	for _, r := range usualRatios {
		from, to := r[0], r[1]
		if to >= from {
			continue
		}
		for _, part := range []float64{0.5, 0.51, 0.55, 0.7, 0.95, 1.3, 2.2} {
			hz := part * float64(to)
			if hz >= 0.5*float64(from) {
				continue
			}
			in := tone(hz, 0.5, from, 2000*from/to)
			got := Resample(in, from, to)
			if d := decibels(rms(middle(got)) / rms(in)); d > -80 {
				t.Errorf("%d→%d: of a tone of %.0f Hz %.1f dB are left", from, to, hz, d)
			}
		}
	}
}

func TestNoImagesWhenTheRateIsRaised(t *testing.T) {
	for _, r := range usualRatios {
		from, to := r[0], r[1]
		if to <= from {
			continue
		}
		for _, part := range []float64{0.05, 0.2, 0.4, 0.45} {
			hz := part * float64(from)
			image := float64(from) - hz
			if image > float64(to)/2 {
				continue
			}
			got := middle(Resample(tone(hz, 0.5, from, 4000), from, to))
			if d := decibels(strength(got, image, to) / strength(got, hz, to)); d > -80 {
				t.Errorf("%d→%d: a tone of %.0f Hz has an image at %.0f Hz of %.1f dB", from, to, hz, image, d)
			}
		}
	}
}

// strength returns the amplitude of one frequency in pcm, through a Blackman-Harris window so
// that other tones do not leak into it.
func strength(pcm []float32, hz float64, rateHz int) float64 {
	var re, im, sum float64
	for i, v := range pcm {
		x := 2 * math.Pi * float64(i) / float64(len(pcm))
		w := 0.35875 - 0.48829*math.Cos(x) + 0.14128*math.Cos(2*x) - 0.01168*math.Cos(3*x)
		s, c := math.Sincos(2 * math.Pi * hz * float64(i) / float64(rateHz))
		re, im, sum = re+w*float64(v)*c, im+w*float64(v)*s, sum+w
	}
	return 2 * math.Hypot(re, im) / sum
}

func TestResampledLengthIsRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]int{8000, 11025, 16000, 22050, 24000, 44100, 48000}),
			rapid.IntRange(1, MaxResampleHz))
		from, to := rate.Draw(t, "from"), rate.Draw(t, "to")
		n := rapid.IntRange(0, max(1, min(3000, 3000*from/to))).Draw(t, "n")
		in := make([]float32, n)
		for i := range in {
			in[i] = float32(math.Sin(float64(i*i) / 50))
		}
		want := Resample(in, from, to)
		if exact := float64(n) * float64(to) / float64(from); math.Abs(float64(len(want))-exact) > 0.5 {
			t.Fatalf("%d samples of %d Hz became %d at %d Hz; want %.2f", n, from, len(want), to, exact)
		}
		r, err := NewResampler(from, to)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // after Flush, the same again
			var got []float32
			for rest := in; len(rest) > 0; {
				k := rapid.IntRange(0, len(rest)).Draw(t, "cut")
				if k == 0 {
					k = 1
				}
				got = r.Process(got, rest[:k])
				rest = rest[k:]
			}
			if got = r.Flush(got); !slices.Equal(got, want) {
				t.Fatalf("%d→%d: cut input gives other samples (%d and %d)", from, to, len(got), len(want))
			}
		}
	})
}

func TestResamplingAllocatesNothing(t *testing.T) {
	for _, ratio := range [][2]int{{22050, 48000}, {48000, 16000}, {384000, 1000}} {
		r, err := NewResampler(ratio[0], ratio[1])
		if err != nil {
			t.Fatal(err)
		}
		in, out := tone(440, 0.5, ratio[0], 4800), make([]float32, 0, 1<<14)
		for range 20 {
			out = r.Process(out[:0], in)
		}
		if n := testing.AllocsPerRun(50, func() { out = r.Process(out[:0], in) }); n > 0 {
			t.Errorf("%v: %v allocations a call", ratio, n)
		}
	}
}

func TestKernelTablesAreBounded(t *testing.T) {
	for _, r := range [][2]int{{1, 384000}, {384000, 1}, {383999, 384000}, {384000, 383999}, {384000, 8001},
		{44100, 16000}} {
		rs, err := NewResampler(r[0], r[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range rs.stages {
			if n := len(s.kernel.table); n > 2*maxKernelSize {
				t.Errorf("%v: a table of %d values", r, n)
			}
		}
	}
}

func TestConstantsStayConstant(t *testing.T) {
	for _, r := range usualRatios {
		in := make([]float32, 3000*max(1, r[0]/r[1]))
		for i := range in {
			in[i] = 0.5
		}
		for i, v := range middle(Resample(in, r[0], r[1])) {
			if math.Abs(float64(v)-0.5) > 1e-5 {
				t.Fatalf("%v: sample %d is %v; want 0.5", r, i, v)
			}
		}
	}
}

func TestInvalidRatesAreNamed(t *testing.T) {
	for _, r := range [][2]int{{0, 48000}, {-1, 48000}, {16000, 0}, {MaxResampleHz + 1, 1}} {
		if _, err := NewResampler(r[0], r[1]); err == nil {
			t.Errorf("%v: no error", r)
		}
		if Resample([]float32{1, 2}, r[0], r[1]) != nil {
			t.Errorf("%v: samples", r)
		}
	}
}

func BenchmarkResample(b *testing.B) {
	for _, r := range usualRatios[:6] {
		b.Run(fmt.Sprintf("%d-%d", r[0], r[1]), func(b *testing.B) {
			rs, _ := NewResampler(r[0], r[1])
			in := tone(440, 0.5, r[0], r[0]/50)
			out := make([]float32, 0, 4096)
			for b.Loop() {
				out = rs.Process(out[:0], in)
			}
			b.ReportMetric(0.020/(b.Elapsed().Seconds()/float64(b.N)), "x-realtime")
		})
	}
	b.Run("design", func(b *testing.B) {
		for b.Loop() {
			newKernel(320, 147)
		}
	})
}
