package soundcheck

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"parley/appliance/audio/clean"
	"parley/appliance/audio/fourier"
	"parley/appliance/audio/soundcard"
)

// Result is how well a loudspeaker and a microphone work together.
type Result struct {
	System soundcard.System `json:"system"`
	Input  string           `json:"input"`
	Output string           `json:"output"`
	Hears  bool             `json:"hears"` // the microphone hears the loudspeaker
	// DelayMS is the time from giving sound to the loudspeaker until the microphone delivers it;
	// 0: it does not.
	DelayMS float64  `json:"delay_ms"`
	JumpsMS float64  `json:"jumps_ms"`    // variation of the delay between three chirps
	EchoDB  float64  `json:"echo_db"`     // level of the echo, relative to playback
	GoneDB  float64  `json:"gone_db"`     // how much of the echo is cancelled after two seconds
	NoiseDB float64  `json:"noise_dbfs"`  // background noise
	PeakDB  float64  `json:"peak_dbfs"`   // of the recording
	Clipped int      `json:"clipped"`     // samples at full scale
	Missing string   `json:"missing"`     // why GoneDB is unknown; else empty
	Advice  []string `json:"suggestions"` // what to change; empty: nothing
}

// The score, in seconds: silence, three chirps with a pause after each, noise like that of a
// voice, silence.
const (
	silentFor = 0.8
	chirps    = 3
	chirpFor  = 0.3
	chirpEach = 0.8
	noiseFrom = silentFor + chirps*chirpEach
	noiseFor  = 3.2
	noiseEnds = noiseFrom + noiseFor
	restFor   = 0.6
	// loudness is the peak of the chirps, -12 dB of full scale, and of most of the noise: as
	// loud as the box speaks.
	loudness = 0.25
)

// score returns what is played.
func score(rateHz int) []float32 {
	out := make([]float32, int((noiseEnds+restFor)*float64(rateHz)))
	chirp := sweep(rateHz)
	for i := range chirps {
		copy(out[int((silentFor+float64(i)*chirpEach)*float64(rateHz)):], chirp)
	}
	chance := rand.New(rand.NewPCG(1, 7))
	var low float64
	noise := out[int(noiseFrom*float64(rateHz)):int(noiseEnds*float64(rateHz))]
	turn := 1 - math.Exp(-2*math.Pi*900/float64(rateHz)) // most of a voice lies below 900 Hz
	for i := range noise {
		low += turn * (chance.NormFloat64() - low)
		syllable := 0.5 - 0.5*math.Cos(2*math.Pi*4*float64(i)/float64(rateHz)) // four a second
		noise[i] = float32(max(-1, min(1, loudness*syllable*low/math.Sqrt(turn))))
	}
	return out
}

// sweep returns a chirp from 200 to 6000 Hz, with equally long octaves.
func sweep(rateHz int) []float32 {
	out := make([]float32, int(chirpFor*float64(rateHz)))
	const from, to = 200, 6000
	k := math.Log(to/from) / chirpFor
	for i := range out {
		t := float64(i) / float64(rateHz)
		fade := min(1, t/0.01, (chirpFor-t)/0.01)
		out[i] = float32(loudness * fade * math.Sin(2*math.Pi*from*(math.Exp(k*t)-1)/k))
	}
	return out
}

// recording is the microphone's sound since the first sample was played.
type recording struct {
	pcm     []float32 // at rateHz
	clipped int
}

// clipped counts the samples at full scale next to another one: a single one may just be loud.
func clipped(pcm []float32) (n int) {
	for i := 1; i < len(pcm); i++ {
		if math.Abs(float64(pcm[i])) >= 0.999 && math.Abs(float64(pcm[i-1])) >= 0.999 {
			n++
		}
	}
	return n
}

// judge compares a recording with what was played, both at rateHz. lead is how early the
// loudspeaker requests its sound.
func judge(heard recording, played []float32, lead time.Duration) Result {
	r := Result{Clipped: heard.clipped}
	pcm := make([]float32, len(played)+rateHz)
	copy(pcm, heard.pcm)
	r.NoiseDB = decibels(power(part(pcm, 0.1, silentFor-0.1)))
	var peak float64
	for _, v := range pcm {
		peak = max(peak, math.Abs(float64(v)))
	}
	r.PeakDB = decibels(peak * peak)
	var delays []float64
	for i := range chirps {
		if at, ok := find(part(pcm, silentFor+float64(i)*chirpEach, silentFor+float64(i+1)*chirpEach+chirpFor)); ok {
			delays = append(delays, at)
		}
	}
	if r.Hears = len(delays) >= 2; r.Hears {
		slices.Sort(delays)
		late := delays[len(delays)/2]
		r.DelayMS, r.JumpsMS = round((late+lead.Seconds())*1000), round((delays[len(delays)-1]-delays[0])*1000)
		from := noiseFrom + late
		noise := power(part(pcm, 0.1, silentFor-0.1))
		echo := decibels(max(0, power(part(pcm, from, from+noiseFor))-noise))
		r.EchoDB = round(echo - decibels(power(part(played, noiseFrom, noiseEnds))))
		r.measureCancellation(pcm, played, late)
	}
	r.NoiseDB, r.PeakDB = round(r.NoiseDB), round(r.PeakDB)
	r.advise()
	return r
}

// find returns the time of a chirp in a piece of sound, in seconds, and whether the chirp
// stands out.
func find(pcm []float32) (at float64, ok bool) {
	chirp := sweep(rateHz)
	n := 1
	for n < len(pcm)+len(chirp) {
		n *= 2
	}
	t := fourier.New(n)
	x, y := make([]complex128, n), make([]complex128, n)
	for i, v := range pcm {
		x[i] = complex(float64(v), 0)
	}
	for i, v := range chirp {
		y[i] = complex(float64(v), 0)
	}
	t.Forward(x)
	t.Forward(y)
	for k := range x { // only the phase: it turns a chirp into a click
		c := x[k] * complex(real(y[k]), -imag(y[k]))
		hz := min(k, n-k) * rateHz / n
		if size := math.Hypot(real(c), imag(c)); size > 0 && hz > 250 && hz < 5500 {
			x[k] = c / complex(size, 0)
		} else {
			x[k] = 0
		}
	}
	t.Back(x)
	best, spread := 0, 0.0
	reach := len(pcm) - len(chirp)
	for i := range reach {
		v := math.Abs(real(x[i]))
		spread += v * v
		if v > math.Abs(real(x[best])) {
			best = i
		}
	}
	spread = math.Sqrt(spread / float64(max(1, reach)))
	peak := math.Abs(real(x[best]))
	return float64(best) / rateHz, peak > minProminence*spread
}

// minProminence is by how much a chirp must stand out, in standard deviations: by chance, the
// largest of 8000 has 4.5.
const minProminence = 10

// measureCancellation cancels the echo, which comes late by some seconds, with the box's own
// canceller.
func (r *Result) measureCancellation(heard, played []float32, late float64) {
	c, err := clean.Open(clean.Options{RateHz: rateHz})
	if err != nil {
		r.Missing = err.Error()
		return
	}
	defer c.Close()
	residual := make([]float32, len(heard))
	n := c.FrameSamples()
	for i := 0; i+n <= len(heard); i += n {
		c.Frame(residual[i:i+n], heard[i:i+n], played[min(i, len(played)):min(i+n, len(played))])
	}
	from := noiseFrom + 2 + late
	r.GoneDB = round(decibels(power(part(heard, from, from+1))) - decibels(power(part(residual, from, from+1))))
}

// part returns a part of a sound, in seconds.
func part(pcm []float32, from, to float64) []float32 {
	a, b := int(from*rateHz), int(to*rateHz)
	return pcm[min(a, len(pcm)):min(b, len(pcm))]
}

func power(pcm []float32) (p float64) {
	for _, v := range pcm {
		p += float64(v) * float64(v)
	}
	return p / float64(max(1, len(pcm)))
}

// decibels returns a power in dB, at least -120 dB.
func decibels(power float64) float64 { return 10 * math.Log10(max(power, 1e-12)) }

func round(v float64) float64 { return math.Round(v*10) / 10 }

// Duration is how long a check plays.
const Duration = time.Duration((noiseEnds + restFor) * float64(time.Second))
