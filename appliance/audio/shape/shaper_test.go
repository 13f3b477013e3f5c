package shape

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/appliance/audio"
)

// sung returns a sung vowel: pulses through three resonances, with the pitch varying around hz,
// and pauses of 200 ms between words of 600 ms.
func sung(rateHz int, hz, depth float64, seconds float64) []float32 {
	pcm := make([]float32, int(seconds*float64(rateHz)))
	phase := 0.0
	type pole struct{ a, b, y1, y2 float64 }
	var poles []*pole
	for _, f := range []float64{600, 1400, 2500} {
		r := math.Exp(-math.Pi * 90 / float64(rateHz))
		poles = append(poles, &pole{a: 2 * r * math.Cos(2*math.Pi*f/float64(rateHz)), b: -r * r})
	}
	for i := range pcm {
		at := float64(i) / float64(rateHz)
		x := 0.0
		if math.Mod(at, 0.8) < 0.6 {
			phase += hz * math.Exp2(depth/12*math.Sin(2*math.Pi*1.3*at)) / float64(rateHz)
			if phase >= 1 {
				phase--
				x = 1
			}
		}
		for _, p := range poles {
			y := x + p.a*p.y1 + p.b*p.y2
			p.y1, p.y2 = y, p.y1
			x = y * 0.1
		}
		pcm[i] = float32(x)
	}
	loudest := float32(0)
	for _, x := range pcm {
		loudest = max(loudest, float32(math.Abs(float64(x))))
	}
	for i := range pcm {
		pcm[i] *= 0.4 / loudest
	}
	return pcm
}

// shapedIn shapes a sound in pieces of a length.
func shapedIn(pcm []float32, rateHz, piece int, s Settings, hz float64) []float32 {
	p := New(rateHz, s, hz)
	var out []float32
	for i := 0; i < len(pcm); i += piece {
		end := min(i+piece, len(pcm))
		out = append(out, p.Process(slices.Clone(pcm[i:end]), end == len(pcm))...)
	}
	return out
}

// heardPitch returns the median pitch of a voice, and its range in semitones.
func heardPitch(pcm []float32, rateHz int) (hz, moves float64, voiced int) {
	t := newPitchTrack(rateHz)
	t.follow(pcm, 0, true)
	var all []float64
	for _, p := range t.periods {
		if p > 0 {
			all = append(all, 12*math.Log2(float64(rateHz)/float64(p)))
		}
	}
	if len(all) == 0 {
		return 0, 0, 0
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	return math.Exp2(middle / 12), all[len(all)*9/10] - all[len(all)/10], len(all)
}

func TestShapeChangesOnlyItsSettings(t *testing.T) {
	const rate, hz = 24000, 140.0
	pcm := sung(rate, hz, 2, 4)
	_, moved, voiced := heardPitch(pcm, rate)
	for name, x := range map[string]struct {
		shape Settings
		law   func(out []float32) bool
	}{
		"up": {Settings{Pitch: 4}, func(o []float32) bool {
			h, _, _ := heardPitch(o, rate)
			return math.Abs(12*math.Log2(h/hz)-4) < 0.5
		}},
		"down": {Settings{Pitch: -4}, func(o []float32) bool {
			h, _, _ := heardPitch(o, rate)
			return math.Abs(12*math.Log2(h/hz)+4) < 0.5
		}},
		"monotone": {Settings{Range: -1}, func(o []float32) bool {
			_, m, _ := heardPitch(o, rate)
			return m < moved/3
		}},
		"lively": {Settings{Range: 0.8}, func(o []float32) bool {
			_, m, _ := heardPitch(o, rate)
			return m > 1.4*moved
		}},
		"formant": {Settings{Formant: 3}, func(o []float32) bool {
			h, _, _ := heardPitch(o, rate)
			return math.Abs(h/hz-1) < 0.03
		}},
		"whisper": {Settings{Breath: 1}, func(o []float32) bool {
			_, _, v := heardPitch(o, rate)
			return v < voiced/3
		}},
		"bright": {Settings{Brightness: 6}, func(o []float32) bool { return slopeOf(o) > 1.01*slopeOf(pcm) }},
		"dark":   {Settings{Brightness: -6}, func(o []float32) bool { return slopeOf(o) < 0.995*slopeOf(pcm) }},
		"long":   {Settings{Pauses: 1}, func(o []float32) bool { return len(o) > len(pcm)+rate/4 }},
		"short":  {Settings{Pauses: -0.5}, func(o []float32) bool { return len(o) < len(pcm)-rate/20 }},
		"rough": {Settings{Rough: 0.6}, func(o []float32) bool {
			h, _, _ := heardPitch(o, rate)
			return h > 0 && harmonicity(o, rate, hz) < harmonicity(pcm, rate, hz)-12
		}},
	} {
		out := shapedIn(pcm, rate, 5632, x.shape, hz)
		if !x.law(out) {
			h, m, v := heardPitch(out, rate)
			t.Errorf("%s: %.1f Hz, moves %.2f (%.2f), voiced %d (%d), %d samples (%d)", name, h, m, moved, v, voiced,
				len(out), len(pcm))
		}
		if x.shape.Pauses == 0 && len(out) != len(pcm) {
			t.Errorf("%s: %d samples of %d", name, len(out), len(pcm))
		}
		if is, was := audio.Loudness(out, rate), audio.Loudness(pcm, rate); math.Abs(is-was) > 1 {
			t.Errorf("%s: %.1f LUFS, was %.1f", name, is, was)
		}
	}
}

// harmonicity returns the ratio of the periodic to the aperiodic part of a voice in dB: the
// median over audible pieces of three periods.
func harmonicity(pcm []float32, rateHz int, hz float64) float64 {
	n := int(3 * float64(rateHz) / hz)
	var all []float64
	for at := 0; at+2*n < len(pcm); at += n {
		best := 0.0
		for lag := int(0.9 * float64(rateHz) / hz); lag <= int(1.1*float64(rateHz)/hz); lag++ {
			var xy, xx, yy float64
			for i := at; i < at+n; i++ {
				x, y := float64(pcm[i]), float64(pcm[i+lag])
				xy, xx, yy = xy+x*y, xx+x*x, yy+y*y
			}
			if xx > float64(n)*1e-5 {
				best = max(best, xy/math.Sqrt(xx*yy+1e-12))
			}
		}
		if best > 0 {
			best = min(best, 0.9999)
			all = append(all, 10*math.Log10(best/(1-best)))
		}
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// slopeOf grows with the share of high frequencies.
func slopeOf(pcm []float32) float64 {
	var steps, all float64
	for i := 1; i < len(pcm); i++ {
		d := float64(pcm[i] - pcm[i-1])
		steps += d * d
		all += float64(pcm[i]) * float64(pcm[i])
	}
	return math.Sqrt(steps / all)
}

func TestZeroSettingsChangeNothing(t *testing.T) {
	const rate = 22050
	pcm := sung(rate, 110, 3, 2)
	for _, piece := range []int{1, 100, 5632, 1 << 20} {
		if piece == 1 && testing.Short() {
			continue
		}
		if out := shapedIn(pcm, rate, piece, Settings{}, 0); !slices.Equal(out, pcm) {
			t.Errorf("pieces of %d: the sound differs", piece)
		}
	}
}

func FuzzShaper(f *testing.F) {
	f.Add(uint64(1), 4.0, 2.0, -1.0, 0.5, 1.0, 100)
	f.Fuzz(func(t *testing.T, seed uint64, pitch, formant, rng, breath, pauses float64, piece int) {
		for _, x := range []float64{pitch, formant, rng, breath, pauses} {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return
			}
		}
		if piece < 1 || piece > 10000 {
			return
		}
		s := Settings{}.Plus(Settings{
			Pitch:   pitch,
			Formant: formant,
			Range:   rng,
			Breath:  breath,
			Pauses:  pauses,
			Rough:   breath,
		})
		r := rand.New(rand.NewPCG(seed, 1))
		pcm := make([]float32, r.IntN(20000))
		for i := range pcm {
			pcm[i] = 2*r.Float32() - 1
		}
		for i, x := range shapedIn(pcm, 24000, piece, s, 0) {
			if x != x || x > 100 || x < -100 {
				t.Fatalf("sample %d is %g", i, x)
			}
		}
	})
}
