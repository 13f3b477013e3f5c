package clean

import (
	"math"
	"time"
)

const (
	// mostPPM is how far two devices' clocks are taken to differ at most, in parts
	// per million. Crystals keep 100, the clocks of USB and Bluetooth 500.
	mostPPM = 1000
	// clockStep is how often the clocks are compared: a callback is late by some
	// milliseconds now and then, and never early, so that the earliest within half a
	// second tells the time. firstStep is the same for a first guess.
	clockStep, firstStep = 500 * time.Millisecond, 120 * time.Millisecond
	// clockSteps is off how many of these the difference is read: two minutes; and
	// clockFirst how many make a first guess.
	clockSteps, clockFirst = 240, 12
	// clockSure is from how many standard errors on a difference is surely there. A busy
	// machine is late for many steps in a row, which these errors know nothing of.
	clockSure = 5
	// clockJump is by how much a device must be off at once for sound to have been
	// lost, or not asked for: then what was before says nothing of what is after.
	clockJump = 15 * time.Millisecond
)

// clocks compares the clocks of two devices by how much sound each has taken or
// brought, against a third clock.
type clocks struct {
	rateHz           int
	differ, centring float64 // ppm
	out, in          pace
	until            time.Duration // the step
	steps            int           // since both devices run
	apart            []float64     // how far the one was ahead of the other, step by step, in samples
	fresh            bool          // the newest of them was not asked for yet
}

// pace is one device: how much sound has passed, when the newest did, and the
// furthest that it was ahead of the time since the last step.
type pace struct {
	passed int64
	newest time.Duration
	ahead  float64
}

func (p *pace) seen(at float64) { p.ahead = max(p.ahead, float64(p.passed)-at) }

// silent reports whether the device did nothing for so long that it is another one,
// or the same anew.
func (p *pace) silent(now time.Duration) bool {
	silent := now-p.newest > stopped
	p.newest = now
	return silent
}

func (c *clocks) ppm() float64 { return min(max(c.differ+c.centring, -mostPPM), mostPPM) }

// played takes down that the loudspeaker has asked for n more samples: those
// before are on their way. It reports whether the device had stopped before.
func (c *clocks) played(now time.Duration, n int) (began bool) {
	if began = c.out.silent(now); began {
		c.forget()
	}
	c.step(now)
	c.out.seen(now.Seconds() * float64(c.rateHz))
	c.out.passed += int64(n)
	return began
}

// heard takes down that the microphone has brought n samples, and reports whether
// it had stopped before.
func (c *clocks) heard(now time.Duration, n int) (began bool) {
	if began = c.in.silent(now); began {
		c.forget()
	}
	c.step(now)
	c.in.passed += int64(n)
	c.in.seen(now.Seconds() * float64(c.rateHz))
	return began
}

// forget begins anew. What is known of the clocks stays.
func (c *clocks) forget() {
	c.out.ahead, c.in.ahead = math.Inf(-1), math.Inf(-1)
	c.apart, c.steps, c.until, c.fresh = c.apart[:0], 0, 0, false
}

// step compares the clocks where it is time for that.
func (c *clocks) step(now time.Duration) {
	long := clockStep
	if c.steps == 0 {
		long = firstStep
	}
	switch {
	case c.until == 0:
		c.until = now + long
	case now >= c.until:
		if c.until += clockStep; now >= c.until { // the machine slept, or nearly
			c.until = now + clockStep
		}
		c.compare()
	}
}

// compared is how far the loudspeaker is ahead of the microphone, in samples, and
// whether that is news; without end where it is not known.
func (c *clocks) compared() (apart float64, fresh bool) {
	if len(c.apart) == 0 {
		return math.Inf(1), false
	}
	fresh, c.fresh = c.fresh, false
	return c.apart[len(c.apart)-1], fresh
}

func (c *clocks) compare() {
	apart := c.out.ahead - c.in.ahead
	c.out.ahead, c.in.ahead = math.Inf(-1), math.Inf(-1)
	if math.IsInf(apart, 0) || math.IsNaN(apart) { // one of them is silent
		c.apart, c.steps = c.apart[:0], 0
		return
	}
	most := clockJump.Seconds() * float64(c.rateHz)
	if k := len(c.apart); k > 0 && math.Abs(apart-c.apart[k-1]) > most || c.steps == 1 {
		c.apart = c.apart[:0] // also the first, of which little was seen
	}
	if len(c.apart) == clockSteps {
		c.apart = c.apart[:copy(c.apart, c.apart[1:])]
	}
	c.apart, c.fresh = append(c.apart, apart), true
	c.steps++
	if len(c.apart) < clockFirst {
		return
	}
	rise, doubt := slope(c.apart)
	// On a busy machine devices seem to differ whose clocks do not: what may be chance
	// is taken for it.
	if rise = math.Copysign(max(0, math.Abs(rise)-clockSure*doubt), rise); rise == 0 && len(c.apart) < clockSteps {
		return
	}
	c.differ = rise / clockStep.Seconds() / float64(c.rateHz) * 1e6
	c.differ = min(max(c.differ, -mostPPM), mostPPM)
}

// slope is that of the straight line through equally spaced values, by least
// squares, per step, and its standard error.
func slope(y []float64) (rise, doubt float64) {
	n := float64(len(y))
	var sum, weighed, squares float64
	for i, v := range y {
		sum += v
		weighed += float64(i) * v
	}
	rise = (weighed - sum*(n-1)/2) * 12 / (n * (n*n - 1))
	for i, v := range y {
		off := v - sum/n - rise*(float64(i)-(n-1)/2)
		squares += off * off
	}
	return rise, math.Sqrt(squares / (n - 2) * 12 / (n * (n*n - 1)))
}
