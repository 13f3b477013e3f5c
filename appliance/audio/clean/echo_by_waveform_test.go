package clean

import (
	"testing"
	"time"

	"parley/appliance/audio/clean/acoustics"
)

// The residual of an echo is recognised, whatever its delay around the assumed one and however
// soft it is; a person who speaks during other playback is not mistaken for it.
func TestResidualEchoIsRecognised(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	played := voices(t, 20*time.Second)
	r := acoustics.Room{
		RateHz: rate,
		Echo:   -10,
		Decay:  300 * time.Millisecond,
		Noise:  -70,
	}
	echo, person := r.Hear(played), r.Say(recording(t, "demo-moreinfo"), -30)
	// looks counts the looks with enough residual, and how many of them found an echo.
	looks := func(left []float32, softer float32, later int) (all, echoes int) {
		l := newWaveformEcho(rate)
		soft := make([]float32, rate/100)
		for i := rate; i+len(soft) <= min(len(left), len(played)); i += len(soft) {
			for k := range soft {
				soft[k] = left[i+k] * softer
			}
			known := l.frame(soft, soft, played[i:i+len(soft)], later)
			if meanPower(soft) < minResidualPower*4 || l.frames%compareEvery != 0 ||
				meanPower(latest(nil, played[:i], rate/10)) < playedLeast {
				continue
			}
			if all++; known {
				echoes++
			}
		}
		return all, echoes
	}
	way := rate / 500 // through the room
	for _, c := range []struct {
		softer float32
		off    int
	}{{1, 0}, {0.25, 0}, {1, rate / 300}, {1, -rate / 300}} {
		all, echoes := looks(echo[:12*rate], c.softer, max(0, way+c.off))
		t.Logf("%.2f as loud, %d samples off: %d of %d", c.softer, c.off, echoes, all)
		if all < 50 || echoes < all*6/10 {
			t.Errorf("%.2f as loud, expected %d samples later than it comes: of %d looks at an echo %d recognise it",
				c.softer, c.off, all, echoes)
		}
	}
	all, echoes := looks(person, 1, way)
	t.Logf("a person: %d of %d", echoes, all)
	if all < 50 || echoes > all/50 {
		t.Errorf("of %d looks at a person %d find an echo", all, echoes)
	}
}

// An echo that drifts is followed from its first position: the profile of the room does not
// drift along unnoticed.
func TestDriftingEchoIsFollowed(t *testing.T) {
	if raced {
		return // one goroutine computes, ten times slower
	}
	const late, ppm, long = 40 * time.Millisecond, 12, 60 * time.Second
	played := voices(t, long)
	r := acoustics.Room{
		RateHz:  rate,
		Echo:    -10,
		Latency: late,
		Decay:   300 * time.Millisecond,
		Noise:   -60,
		PPM:     ppm,
	}
	heard := r.Hear(played)
	d, err := newDelay(rate)
	if err != nil {
		t.Fatal(err)
	}
	var first time.Duration
	for i := 0; i+rate/100 <= len(played); i += rate / 100 {
		if d.frame(heard[i:i+rate/100], played[i:i+rate/100]) == located && first == 0 {
			first = d.at
		}
	}
	crept := time.Duration(float64(long) * ppm / 1e6) // the total drift
	t.Logf("it came after %v first, and after %v in the end", first, d.at)
	if off := first - d.at - crept; off.Abs() > 140*time.Microsecond {
		t.Errorf("the delay was %v at first and is estimated as %v in the end; want %v less", first, d.at, crept)
	}
}

// A certain difference of two clocks counts in full, and one that may be chance not at all.
func TestCertainDifferenceCountsInFull(t *testing.T) {
	for _, c := range []struct{ rise, doubt, want float64 }{{1, 0.2, 0}, {-1, 0.3, 0}, {1, 0.01, 0.9975},
		{-10, 0.2, -9.9}} {
		if got := shrunk(c.rise, c.doubt); got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%g with a standard error of %g counts as %g: want %g", c.rise, c.doubt, got, c.want)
		}
	}
}
