package clean

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean/acoustics"
	"parley/internal/packtest"
)

const rate = 16000

var full = os.Getenv("PARLEY_FULL_TESTS") != ""

// voices are the box's own voices, one after the other.
func voices(t testing.TB, long time.Duration) (pcm []float32) {
	t.Helper()
	n := audio.Samples(long, rate)
	for i := 0; len(pcm) < n; i++ {
		file, err := os.ReadFile(filepath.Join("testdata", []string{"joe", "jenny", "alan"}[i%3]+".ogg"))
		if err != nil {
			t.Fatal(err)
		}
		speech, err := audio.DecodeAll(file, rate)
		if err != nil {
			t.Fatal(err)
		}
		pcm = append(pcm, speech...)
	}
	return pcm[:n]
}

func recording(t testing.TB, name string) []float32 {
	t.Helper()
	file, err := os.ReadFile(packtest.Recording(t, name))
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := audio.DecodeAll(file, rate)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func open(t testing.TB) *Cleaner {
	t.Helper()
	c, err := Open(Options{RateHz: rate})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (c *Cleaner) all(heard, played []float32) []float32 {
	out := make([]float32, len(heard))
	for i := 0; i+c.FrameSamples() <= len(heard); i += c.FrameSamples() {
		n := i + c.FrameSamples()
		c.Frame(out[i:n], heard[i:n], played[i:n])
	}
	return out
}

func power(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(len(pcm))+1e-12)
}

// After three seconds the box's voice is 25 dB softer, whatever the devices' delay; also after
// a change of device, or after the loudspeaker was moved.
func TestEchoIsCancelled(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	for n, late := range []time.Duration{0, 20 * time.Millisecond, 120 * time.Millisecond, 300 * time.Millisecond} {
		for i := range 3 {
			if i != n%3 && !full {
				continue
			}
			played := voices(t, time.Duration(i*40+16)*time.Second)[i*40*rate:]
			r := acoustics.Room{
				RateHz:  rate,
				Echo:    -10,
				Latency: late,
				Decay:   300 * time.Millisecond,
				Bend:    0.03,
				Noise:   -60,
			}
			heard := r.Hear(played)
			r.Latency, r.Seed = late+50*time.Millisecond, 20
			copy(heard[8*rate:], r.Hear(played)[8*rate:])
			out := open(t).all(heard, played)
			for _, at := range []int{3 * rate, 14 * rate} {
				reduction := power(heard[at:at+2*rate]) - power(out[at:at+2*rate])
				t.Logf("voice %d, %v late, %d s: %.1f dB", i, late, at/rate, reduction)
				if reduction < 25 {
					t.Errorf("voice %d, %v late: after %d s the echo is %.1f dB softer: want 25 and more", i, late,
						at/rate, reduction)
				}
			}
		}
	}
}

// A person who speaks at the same time passes unchanged, also if softer than the echo; and with
// 15 ms of delay at most.
func TestDoubleTalkPasses(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	played := voices(t, 16*time.Second)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: 80 * time.Millisecond,
		Decay:   300 * time.Millisecond,
		Bend:    0.03,
		Noise:   -60,
	}
	for _, loud := range []float64{-24, -30, -36} {
		heard := r.Hear(played)
		near := r.Say(recording(t, "demo-moreinfo"), loud)
		near = near[:min(len(near), 6*rate)]
		const at = 8 * rate
		for i, v := range near {
			heard[at+i] += v
		}
		out := open(t).all(heard, played)
		best, ratio := 0, math.Inf(-1)
		for late := range rate * 20 / 1000 {
			rest := make([]float32, len(near))
			for i, v := range near {
				rest[i] = out[at+late+i] - v
			}
			if now := power(near) - power(rest); now > ratio {
				best, ratio = late, now
			}
		}
		t.Logf("%v dB: %.1f dB over the rest, %d samples late", loud, ratio, best)
		if ratio < 6 || best > rate*15/1000 {
			t.Errorf("%v dB: %.1f dB over the rest, %d samples late", loud, ratio, best)
		}
	}
}

// Without playback, a voice passes unchanged.
func TestVoiceWithoutEchoPasses(t *testing.T) {
	near := recording(t, "demo-moreinfo")
	out := open(t).all(near, make([]float32, len(near)))
	if change := power(out) - power(near); math.Abs(change) > 0.5 {
		t.Errorf("a voice is %.2f dB louder", change)
	}
}

// A person two metres away becomes as loud as one close by, a close person stays as loud, and
// noise stays noise.
func TestDistantVoiceIsAmplified(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	near := recording(t, "demo-instruct")
	r := acoustics.Room{RateHz: rate, Decay: 300 * time.Millisecond}
	for _, c := range []struct{ loud, least, most float64 }{{-40, -28, -21}, {-34, -26, -21}, {-23, -24, -22},
		{-12, -13, -11}} {
		pcm := r.Say(near, c.loud)
		o, err := Open(Options{RateHz: rate, Gain: true})
		if err != nil {
			t.Fatal(err)
		}
		out := o.all(pcm, make([]float32, len(pcm)))
		o.Close()
		half := len(out) / 2
		got := 20 * math.Log10(acoustics.Loud(out[half:], rate))
		if got < c.least || got > c.most {
			t.Errorf("a voice of %v dB becomes %.1f: want %v to %v", c.loud, got, c.least, c.most)
		}
		// The gain does not pump: in the second half it hardly changes.
		low, high := math.Inf(1), math.Inf(-1)
		for i := half; i+rate <= len(out); i += rate / 2 {
			lift := power(out[i:i+rate]) - power(pcm[i:i+rate])
			if power(pcm[i:i+rate]) < c.loud-15 {
				continue // a pause
			}
			low, high = min(low, lift), max(high, lift)
		}
		t.Logf("%v dB becomes %.1f dB, lifted by %.1f to %.1f dB", c.loud, got, low, high)
		if high-low > 4 {
			t.Errorf("a voice of %v dB is lifted by %.1f to %.1f dB", c.loud, low, high)
		}
	}
	noise := acoustics.Room{RateHz: rate, Noise: -50}.Hear(make([]float32, 30*rate))
	o, err := Open(Options{RateHz: rate, Gain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if lift := power(o.all(noise, make([]float32, len(noise)))[20*rate:]) - power(noise[20*rate:]); lift > 1 {
		t.Errorf("noise is lifted by %.1f dB", lift)
	}
}

func TestInvalidRateIsNamed(t *testing.T) {
	for _, hz := range []int{0, -1, 7900, 16050, 96000} {
		if _, err := Open(Options{RateHz: hz}); err == nil ||
			!strings.Contains(err.Error(), "allowed are the multiples of 100 from 8000 to 48000 Hz") {
			t.Errorf("%d Hz: %v", hz, err)
		}
	}
}

func TestEveryRateIsSupported(t *testing.T) {
	for _, hz := range []int{8000, 24000, 44100, 48000} {
		c, err := Open(Options{RateHz: hz})
		if err != nil {
			t.Fatal(err)
		}
		heard := audio.Resample(recording(t, "demo-moreinfo")[:3*rate], rate, hz)
		out := c.all(heard, make([]float32, len(heard)))
		if change := power(out) - power(heard); math.Abs(change) > 1 {
			t.Errorf("at %d Hz a voice is %.1f dB louder", hz, change)
		}
		c.Close()
	}
}

func TestClosedCleanerPassesSound(t *testing.T) {
	c := open(t)
	c.Close()
	c.Close()
	out, heard := make([]float32, 160), make([]float32, 160)
	heard[7] = 0.5
	if c.Frame(out, heard, nil); out[7] != 0.5 {
		t.Error("the sound is missing")
	}
}

func TestMissingLibraryErrorNamesItsPackage(t *testing.T) {
	if _, err := openSpeex("no such library", rate, 160, 3200, 0); err == nil ||
		!strings.Contains(err.Error(), "apt-get install libspeexdsp1") {
		t.Error(err)
	}
}

// Any input gives finite samples.
func FuzzFrame(f *testing.F) {
	f.Add(uint16(160), uint16(160), uint16(160), uint8(0))
	f.Add(uint16(0), uint16(1), uint16(5000), uint8(7))
	kinds := []float32{0, 1, -1, 1e30, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40}
	f.Fuzz(func(t *testing.T, out, heard, played uint16, kind uint8) {
		c := open(t)
		fill := func(n uint16, k uint8) []float32 {
			pcm := make([]float32, n%2000)
			for i := range pcm {
				pcm[i] = kinds[(int(k)+i*int(k>>4))%len(kinds)]
			}
			return pcm
		}
		to := make([]float32, out%2000)
		for range 5 {
			c.Frame(to, fill(heard, kind), fill(played, kind*3))
			for _, v := range to {
				if !(v >= -1 && v <= 1) {
					t.Fatalf("%g goes out", v)
				}
			}
		}
	})
}
