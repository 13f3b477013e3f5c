package clean

import (
	"math"
	"slices"
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
	// clockTurn is by how much a device is off at once and stays so for a loudspeaker to
	// have run dry: what was before is moved by as much, for it would be read as two
	// clocks that differ, by 100 ppm where it are 10 ms. clockSides is how many
	// comparisons on each side say so.
	clockTurn  = 2 * time.Millisecond
	clockSides = 3
	// topFades is how fast what is taken for the time of a device's clock may fall
	// behind that of the box: mostPPM.
	topFades = mostPPM / 1e6
)

// clocks compares the clocks of two devices by how much sound each has taken or
// brought, against a third clock.
type clocks struct {
	rateHz           int
	differ, centring float64 // ppm
	out, in          deviceClock
	until            time.Duration // the step
	steps            int           // since both devices run
	apart            []float64     // how far the one was ahead of the other, step by step, in samples
	fresh            bool          // the newest of them was not asked for yet
}

// deviceClock is one device: how much sound has passed, when the newest did, and the
// furthest that it was ahead of the time since the last step.
type deviceClock struct {
	passed int64
	newest time.Duration
	lead   float64
	top    float64 // the same, of all that it did
	topAt  float64 // when, in samples
}

func (p *deviceClock) seen(at float64) { p.lead = max(p.lead, float64(p.passed)-at) }

// silent is for how long the device did nothing.
func (p *deviceClock) silent(now time.Duration) time.Duration {
	silent := now - p.newest
	p.newest = now
	return silent
}

// dry is how many samples a device that holds so many went without, that asks for
// more at a time, in samples, by how late it asks.
func (p *deviceClock) dry(at, held float64) float64 {
	ahead := float64(p.passed) - at
	p.top -= (at - p.topAt) * topFades
	p.topAt = at
	if ahead >= p.top {
		p.top = ahead
		return 0
	}
	gone := max(0, p.top-ahead-held)
	p.top -= gone
	return gone
}

func (c *clocks) ppm() float64 { return min(max(c.differ+c.centring, -mostPPM), mostPPM) }

// played takes down that the loudspeaker, which held so many samples, has asked for
// n more: those before are on their way. It returns how many samples long it had
// nothing to play before.
func (c *clocks) played(now time.Duration, n int, held float64) (dry float64) {
	if c.out.silent(now) > stopped {
		c.forget()
	}
	c.step(now)
	at := now.Seconds() * float64(c.rateHz)
	dry = c.out.dry(at, held)
	c.out.seen(at)
	c.out.passed += int64(n)
	return dry
}

// heard takes down that the microphone has brought n samples, and returns for how
// long it had brought none.
func (c *clocks) heard(now time.Duration, n int) (silent time.Duration) {
	if silent = c.in.silent(now); silent > stopped {
		c.forget()
	}
	c.step(now)
	c.in.passed += int64(n)
	c.in.seen(now.Seconds() * float64(c.rateHz))
	return silent
}

// forget begins anew. What is known of the clocks stays.
func (c *clocks) forget() {
	c.out.lead, c.in.lead = math.Inf(-1), math.Inf(-1)
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
	apart := c.out.lead - c.in.lead
	c.out.lead, c.in.lead = math.Inf(-1), math.Inf(-1)
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
	c.removeStep()
	if len(c.apart) < clockFirst {
		return
	}
	rise, doubt := c.rise()
	// On a busy machine devices seem to differ whose clocks do not: what may be chance
	// is taken for it.
	if rise = shrunk(rise, doubt); rise == 0 && len(c.apart) < clockSteps {
		return
	}
	c.differ = rise / clockStep.Seconds() / float64(c.rateHz) * 1e6
	c.differ = min(max(c.differ, -mostPPM), mostPPM)
}

// removeStep moves what was before a step by as much, where there was one and both sides of it are
// straight.
func (c *clocks) removeStep() {
	k := len(c.apart) - clockSides
	if k < clockSides {
		return
	}
	before, after := c.apart[k-clockSides:k], c.apart[k:]
	turn := median(after) - median(before)
	even := max(slices.Max(before)-slices.Min(before), slices.Max(after)-slices.Min(after))
	if math.Abs(turn) < clockTurn.Seconds()*float64(c.rateHz) || math.Abs(turn) < 2*even {
		return
	}
	for i := range c.apart[:k] {
		c.apart[i] += turn
	}
}

// median is the middle one of some values.
func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// rise is the slope of all that was compared, as far as both halves of it agree, and
// its standard error: a step is steep in one half, or in none.
func (c *clocks) rise() (rise, doubt float64) {
	rise, doubt = slope(c.apart)
	for _, half := range [][]float64{c.apart[:len(c.apart)/2], c.apart[len(c.apart)/2:]} {
		part, wrong := slope(half)
		if wrong *= 2; part*rise <= 0 && math.Abs(part) > wrong {
			return 0, doubt
		} else if math.Abs(part)+wrong < math.Abs(rise) {
			rise = math.Copysign(math.Abs(part)+wrong, rise)
		}
	}
	return rise, doubt
}

// shrunk is as much of a rise as is no chance: nothing of one of clockSure standard errors,
// and nearly all of one of many (the garrote of L. Breiman, 1995).
func shrunk(rise, doubt float64) float64 {
	if math.Abs(rise) <= clockSure*doubt {
		return 0
	}
	chance := clockSure * doubt / rise
	return rise * (1 - chance*chance)
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
