package clean

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"parley/appliance/audio/clean/acoustics"
)

// Two devices with different clocks stay in step: the reference for the microphone's time is
// what was played then, within some samples, and its position moves slowly.
func TestTwoClocksStayInStep(t *testing.T) {
	const pitch = 50 // Hz: 320 samples a period
	for i, ppm := range []float64{-300, -50, 0, 120, 300, 500} {
		for n, chunk := range []int{160, 320, 1024, 2048} {
			if raced || (i+n)%2 != 0 && !full {
				continue
			}
			v := &acoustics.Devices{
				RateHz:   rate,
				PPM:      ppm,
				OutChunk: chunk,
				InChunk:  []int{160, 160, 480, 1600}[n],
				Late:     4 * time.Millisecond,
				Seed:     uint64(i),
			}
			d := NewDrift(rate, v.Now)
			d.SetHeld(80 * time.Millisecond) // as a kiosk requests
			var wander []float64             // position of the reference, in samples of true time
			pcm := make([]float32, chunk)
			v.Run(4*time.Minute, func(from, n int) {
				for i := range pcm {
					pcm[i] = float32(math.Sin(2 * math.Pi * pitch * float64(from+i) / rate))
				}
				d.Played(pcm)
			}, func(from, n int) {
				out := pcm[:n]
				d.Heard(v.Now(), n)
				d.Reference(out)
				if from < 60*rate || from%rate != 0 {
					return
				}
				var re, im float64
				for i, x := range out {
					a := 2 * math.Pi * pitch * float64(from+i) * (1 + ppm/1e6) / rate
					re, im = re+float64(x)*math.Sin(a), im+float64(x)*math.Cos(a)
				}
				const period = rate / pitch
				at := math.Atan2(im, re) / (2 * math.Pi) * period
				if k := len(wander); k > 0 {
					at += math.Round((wander[k-1]-at)/period) * period
				}
				wander = append(wander, at)
			})
			low, high, fastest := wander[0], wander[0], 0.0
			for i, w := range wander {
				low, high = min(low, w), max(high, w)
				if i > 0 {
					fastest = max(fastest, math.Abs(w-wander[i-1]))
				}
			}
			what := fmt.Sprintf("%v ppm, chunks of %d: taken for %.1f, wanders by %.1f samples, %.2f in a second", ppm,
				chunk, d.PPM(), high-low, fastest)
			t.Log(what)
			if math.Abs(d.PPM()-ppm) > 5 || high-low > 60 || fastest > 0.3 {
				t.Error(what)
			}
		}
	}
}

// A missing microphone requests nothing, and a lone one gets silence: neither fills the memory.
func TestReferenceOfOneDeviceIsSilent(t *testing.T) {
	var now time.Duration
	d := NewDrift(rate, func() time.Duration { now += FrameTime; return now })
	for range 10 * 100 {
		d.Played(make([]float32, 160))
	}
	if len(d.buffer) > 2*rate {
		t.Errorf("%d samples are buffered", len(d.buffer))
	}
	out := make([]float32, 160)
	for range 10 * 100 {
		out[0] = 1
		d.Heard(now, len(out))
		d.Reference(out)
	}
	if out[0] != 0 {
		t.Error("silence is not silent")
	}
}

// Each device has its own thread, and a third reads the state.
func TestDriftIsSafeForConcurrentUse(t *testing.T) {
	begun := time.Now()
	d := NewDrift(rate, func() time.Duration { return time.Since(begun) })
	var all sync.WaitGroup
	for _, use := range []func(pcm []float32){d.Played, func(pcm []float32) {
		d.Heard(time.Since(begun), len(pcm))
	}, func(pcm []float32) {
		d.Reference(pcm)
	}, func([]float32) {
		d.PPM()
	}} {
		all.Go(func() {
			pcm := make([]float32, 160)
			for range 1000 {
				use(pcm)
			}
		})
	}
	all.Wait()
	if d.taken == 0 || d.clocks.in.passed == 0 || d.clocks.out.passed == 0 {
		t.Error("nothing was played or heard")
	}
}

// With clocks that differ for half an hour, the echo stays cancelled.
func TestEchoStaysCancelledWithDifferentClocks(t *testing.T) {
	long := time.Minute
	if full {
		long = 30 * time.Minute
	} else if raced {
		return // one goroutine computes, ten times slower
	}
	for i, ppm := range []float64{-300, 300} {
		played := voices(t, long)
		r := acoustics.Room{
			RateHz:  rate,
			Echo:    -10,
			Latency: 60 * time.Millisecond,
			Decay:   300 * time.Millisecond,
			Bend:    0.03,
			Noise:   -60,
			PPM:     ppm,
		}
		heard := r.Hear(played)
		v := &acoustics.Devices{
			RateHz:   rate,
			PPM:      ppm,
			OutChunk: 320,
			InChunk:  160,
			Late:     4 * time.Millisecond,
			Seed:     uint64(i),
		}
		d := NewDrift(rate, v.Now)
		c := open(t)
		out, reference := make([]float32, len(heard)), make([]float32, rate/100)
		v.Run(long, func(from, n int) { d.Played(clip(played, from, n)) }, func(from, n int) {
			d.Heard(v.Now(), n)
			switch d.Reference(reference) {
			case Repositioned:
				c.DelayChanged()
			case Restored:
				c.ReferenceMoved()
			}
			c.Frame(clip(out, from, n), clip(heard, from, n), reference)
		})
		lowest := math.Inf(1)
		for at := 15 * rate; at+10*rate <= len(out); at += 10 * rate {
			reduction := power(heard[at:at+10*rate]) - power(out[at:at+10*rate])
			lowest = min(lowest, reduction)
		}
		t.Logf("%v ppm for %v: at least %.1f dB in any ten seconds", ppm, long, lowest)
		if lowest < 20 {
			t.Errorf("%v ppm for %v: %.1f dB in some ten seconds: want 20 and more", ppm, long, lowest)
		}
	}
}

func clip(pcm []float32, from, n int) []float32 {
	from = min(from, len(pcm))
	return pcm[from:min(from+n, len(pcm))]
}
