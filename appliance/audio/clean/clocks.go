package clean

import (
	"math"
	"slices"
	"time"
)

const (
	// maxPPM is the largest assumed difference of two devices' clocks, in parts per million.
	// Crystals stay within 100, the clocks of USB and Bluetooth within 500.
	maxPPM = 1000
	// clockStep is how often the clocks are compared. A callback may be late by some
	// milliseconds, but never early, so that the earliest one within half a second tells the
	// time. firstStep is the interval before the first estimate.
	clockStep, firstStep = 500 * time.Millisecond, 120 * time.Millisecond
	// clockSteps is how many comparisons the estimate uses, two minutes, and clockFirst how
	// many the first estimate needs.
	clockSteps, clockFirst = 240, 12
	// clockSure is how many standard errors a difference must have to be certain. On a busy
	// machine callbacks are late for many steps in a row, which the standard error does not
	// reflect.
	clockSure = 5
	// clockJump is the sudden offset from which sound must have been lost or not requested;
	// earlier comparisons are then meaningless.
	clockJump = 15 * time.Millisecond
	// clockTurn is the sudden and lasting offset from which a loudspeaker must have run dry.
	// Earlier comparisons are shifted by it, since it would otherwise look like a difference of
	// clocks: 10 ms look like 100 ppm. clockSides is how many comparisons on each side confirm
	// it.
	clockTurn  = 2 * time.Millisecond
	clockSides = 3
	// topFades is how fast the estimate of a device's time may fall behind the box's: maxPPM.
	topFades = maxPPM / 1e6
)

// clocks compares the clocks of two devices with a third clock, by how much sound each has
// consumed or produced.
type clocks struct {
	rateHz               int
	difference, centring float64 // ppm
	out, in              deviceClock
	until                time.Duration // of the current step
	steps                int           // since both devices run
	apart                []float64     // the loudspeaker's lead over the microphone at each step, in samples
	fresh                bool          // the newest has not been returned yet
}

// deviceClock is one device: how much sound has passed, when the newest did, and its largest
// lead over the clock since the last step.
type deviceClock struct {
	passed int64
	newest time.Duration
	lead   float64
	top    float64 // the largest lead of all
	topAt  float64 // when, in samples
}

func (c *deviceClock) seen(at float64) { c.lead = max(c.lead, float64(c.passed)-at) }

// silent returns for how long the device was inactive.
func (c *deviceClock) silent(now time.Duration) time.Duration {
	silent := now - c.newest
	c.newest = now
	return silent
}

// dry returns for how many samples a device ran dry, which holds some samples when it requests
// more: it is known by how late the request is.
func (c *deviceClock) dry(at, held float64) float64 {
	lead := float64(c.passed) - at
	c.top -= (at - c.topAt) * topFades
	c.topAt = at
	if lead >= c.top {
		c.top = lead
		return 0
	}
	missing := max(0, c.top-lead-held)
	c.top -= missing
	return missing
}

func (c *clocks) ppm() float64 { return min(max(c.difference+c.centring, -maxPPM), maxPPM) }

// played records that the loudspeaker, which still held some samples, requested n more. It
// returns for how many samples it had run dry before.
func (c *clocks) played(now time.Duration, n int, held float64) (dry float64) {
	if c.out.silent(now) > stoppedAfter {
		c.forget()
	}
	c.step(now)
	at := now.Seconds() * float64(c.rateHz)
	dry = c.out.dry(at, held)
	c.out.seen(at)
	c.out.passed += int64(n)
	return dry
}

// heard records that the microphone delivered n samples, and returns for how long it had
// delivered none.
func (c *clocks) heard(now time.Duration, n int) (silent time.Duration) {
	if silent = c.in.silent(now); silent > stoppedAfter {
		c.forget()
	}
	c.step(now)
	c.in.passed += int64(n)
	c.in.seen(now.Seconds() * float64(c.rateHz))
	return silent
}

// forget resets the state except for the estimated difference of the clocks.
func (c *clocks) forget() {
	c.out.lead, c.in.lead = math.Inf(-1), math.Inf(-1)
	c.apart, c.steps, c.until, c.fresh = c.apart[:0], 0, 0, false
}

// step compares the clocks when a step has passed.
func (c *clocks) step(now time.Duration) {
	long := clockStep
	if c.steps == 0 {
		long = firstStep
	}
	switch {
	case c.until == 0:
		c.until = now + long
	case now >= c.until:
		if c.until += clockStep; now >= c.until { // the machine slept or stalled
			c.until = now + clockStep
		}
		c.compare()
	}
}

// compared returns the loudspeaker's lead over the microphone in samples, infinite if unknown,
// and whether it is new.
func (c *clocks) compared() (apart float64, fresh bool) {
	if len(c.apart) == 0 {
		return math.Inf(1), false
	}
	fresh, c.fresh = c.fresh, false
	return c.apart[len(c.apart)-1], fresh
}

func (c *clocks) compare() {
	lead := c.out.lead - c.in.lead
	c.out.lead, c.in.lead = math.Inf(-1), math.Inf(-1)
	if math.IsInf(lead, 0) || math.IsNaN(lead) { // one of them is silent
		c.apart, c.steps = c.apart[:0], 0
		return
	}
	limit := clockJump.Seconds() * float64(c.rateHz)
	if k := len(c.apart); k > 0 && math.Abs(lead-c.apart[k-1]) > limit || c.steps == 1 {
		c.apart = c.apart[:0] // the first step is short, and so ignored too
	}
	if len(c.apart) == clockSteps {
		c.apart = c.apart[:copy(c.apart, c.apart[1:])]
	}
	c.apart, c.fresh = append(c.apart, lead), true
	c.steps++
	c.removeStep()
	if len(c.apart) < clockFirst {
		return
	}
	rise, doubt := c.rise()
	// On a busy machine equal clocks may seem to differ, so an estimate that may be chance is
	// ignored.
	if rise = shrunk(rise, doubt); rise == 0 && len(c.apart) < clockSteps {
		return
	}
	c.difference = rise / clockStep.Seconds() / float64(c.rateHz) * 1e6
	c.difference = min(max(c.difference, -maxPPM), maxPPM)
}

// removeStep shifts the values before a step, if there is one between two even sides.
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

// median returns the middle one of some values.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// rise returns the slope of the comparisons, as far as both halves agree, and its standard
// error. A step affects the slope of one half, or of neither.
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

// shrunk reduces a rise by what may be chance: to nothing at clockSure standard errors, and
// hardly at all at many (the garrote of L. Breiman, 1995).
func shrunk(rise, doubt float64) float64 {
	if math.Abs(rise) <= clockSure*doubt {
		return 0
	}
	chance := clockSure * doubt / rise
	return rise * (1 - chance*chance)
}

// slope returns the slope of the least-squares line through equally spaced values, per step,
// and its standard error.
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
