package clean

import (
	"math"
	"math/cmplx"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/fourier"
)

const (
	// delayHz is the rate at which the delay is looked for: an eighth of a
	// millisecond is exact enough, and most of a voice lies below 4 kHz.
	delayHz = 8000
	// delayHeard is how much of what was heard is compared at once, half a second,
	// with delayPlayed of what was played: so an echo is found up to half a second
	// delay. Both are powers of two.
	delayHeard, delayPlayed = 4096, 8192
	// delayEvery is how often the delay is looked for: twice within the time in which
	// a voice is known. delayFades is what is left of what was compared before, each
	// time: the more, the surer it is found, and the later is noticed that it is
	// another one.
	delayEvery, delayFades = delayHz / 8, 0.3
	// profileBefore and profileLength are which part of the likeness, around the
	// delay, is the room's own: 65 ms of walls. profileLooks is of how many looks at it,
	// each an eighth of a second later, it is about the mean: of fewer it would creep along
	// with two clocks that differ by some ppm, unseen.
	profileBefore, profileLength = delayHz / 200, delayHz * 65 / 1000
	profileLooks                 = 100
	// creepFades is what a comparison counts of a delay that creeps, and creepStep by
	// how much it has to have crept: a sample of 16 kHz.
	creepFades, creepStep = 0.25, 0.5
	// maxUnstable is how many comparisons may say that an echo comes at other times, one
	// after the other, before the last of them is taken: a second.
	maxUnstable = 8
	// sameRoom is how alike two of them are that are of one room, at least.
	sameRoom = 0.6
	// delaySure is by how much the best delay has to stand out, in standard
	// deviations of all of them: chance makes 4.5 of 4096.
	delaySure = 9
	// delayWide is of how many frequencies, of 8192, what was played has to be: a tone
	// is as like itself a period later. The two tones that begin a conversation are of
	// 28 to 37, voices mostly of 45 to 300.
	delayWide = 42
	// delayQuiet is the power below which what was played is too soft to be found:
	// -55 dB of full scale.
	delayQuiet = 3e-6
)

// delay finds how much later than it was played a sound is heard, by generalized
// cross-correlation (C. Knapp and G. Carter, 1976), weighted by the coherence of
// both, so that what is heard of others counts little.
type delay struct {
	transform         *fourier.Transform
	toHeard, toPlayed *audio.Resampler
	heard, played     []float32 // the newest, at delayHz
	fresh             int       // of them not compared yet
	cross             []complex128
	powerIn, powerOut []float64
	x, y              []complex128
	known             bool
	at                time.Duration
	candidate         time.Duration
	strength          float64
	likeness          []float64     // of each delay, by the newest comparison
	profile           []float64     // how that looks around the delay that is known
	profileAt         time.Duration // what that was when it was learned first
	profiled          int           // looks that it was learned from
	shift             float64       // by which the newest comparison says it has moved, in samples at delayHz
	by                float64       // by which it has, of moved and crept
	width             float64       // of how many frequencies the newest that was played is
	// what was known is about right at best: of so many comparisons two in a row say where it is to the sample
	unstable int
	creeps   float64 // by how much the delay is another one than it is taken for, on the average
}

// finding is what a comparison says of the delay.
type finding int

const (
	nothing   finding = iota
	confirmed         // the echo comes when it came before
	doubtful          // the echo seems to come at another time: the next comparison knows
	moved             // in the same room it comes later, or earlier
	crept             // it comes a little later, or earlier, than it did for a while
	located           // it is known for the first time, or of another room
)

func newDelay(rateHz int) (*delay, error) {
	d := &delay{
		transform: fourier.New(delayPlayed),
		heard:     make([]float32, delayHeard),
		played:    make([]float32, delayPlayed),
		cross:     make([]complex128, delayPlayed),
		powerIn:   make([]float64, delayPlayed),
		powerOut:  make([]float64, delayPlayed),
		x:         make([]complex128, delayPlayed),
		y:         make([]complex128, delayPlayed),
		candidate: -1,
		shift:     math.Inf(1),
		likeness:  make([]float64, delayPlayed-delayHeard),
		profile:   make([]float64, profileLength),
	}
	var err error
	if d.toHeard, err = audio.NewResampler(rateHz, delayHz); err != nil {
		return nil, err
	}
	d.toPlayed, err = audio.NewResampler(rateHz, delayHz)
	return d, err
}

// frame takes what was heard and played, and says what is known of the delay
// since.
func (d *delay) frame(heard, played []float32) finding {
	before := len(d.played)
	d.heard = d.toHeard.Process(d.heard, heard)
	d.played = d.toPlayed.Process(d.played, played)
	d.fresh += len(d.played) - before
	if d.fresh < delayEvery {
		return nothing
	}
	d.fresh = 0
	d.heard = d.heard[:copy(d.heard, d.heard[len(d.heard)-delayHeard:])]
	d.played = d.played[:copy(d.played, d.played[len(d.played)-delayPlayed:])]
	// Of the played half a second that the heard one may be the echo of, some has to
	// be loud enough.
	if mean(d.played[delayPlayed-delayHeard-delayHeard/2:]) < delayQuiet {
		return nothing
	}
	d.compare()
	return d.found()
}

// forget leaves out of what is compared all that was before: the delay is another
// one, and which is not known.
func (d *delay) forget() {
	clear(d.cross)
	clear(d.powerIn)
	clear(d.powerOut)
	clear(d.heard)
	d.fresh, d.unstable, d.shift = 0, maxUnstable, math.Inf(1)
}

func mean(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(pcm))
}

// compare adds the newest sound to what is known of both.
func (d *delay) compare() {
	clear(d.x)
	for i, v := range d.heard {
		d.x[delayPlayed-delayHeard+i] = complex(float64(v), 0)
	}
	for i, v := range d.played {
		d.y[i] = complex(float64(v), 0)
	}
	d.transform.Forward(d.x)
	d.transform.Forward(d.y)
	d.width = wide(d.y[:delayPlayed/2])
	for k := range d.cross {
		d.cross[k] = d.cross[k]*delayFades + d.x[k]*cmplx.Conj(d.y[k])
		d.powerIn[k] = d.powerIn[k]*delayFades + power2(d.x[k])
		d.powerOut[k] = d.powerOut[k]*delayFades + power2(d.y[k])
	}
}

func power2(c complex128) float64 { return real(c)*real(c) + imag(c)*imag(c) }

// found looks for the delay at which both are most alike, and is sure when it
// stands out, twice.
func (d *delay) found() finding {
	best := d.liken()
	if d.strength < delaySure || d.width < delayWide {
		return nothing
	}
	peak := d.likeness[best]
	if d.known && d.unstable > 0 {
		if by, alike := d.moved(0, len(d.likeness)); alike >= sameRoom {
			return d.stabilise(by)
		}
	}
	if d.known {
		if d.near(d.at) >= peak/2 {
			return d.stays()
		}
		by, alike := d.moved(0, len(d.likeness))
		if alike >= sameRoom && math.Abs(by) < 1.5 { // another wall sends back more than before
			return d.stays()
		}
		if alike >= sameRoom {
			again := math.Abs(by-d.shift) < 2
			if d.shift = by; !again {
				return doubtful
			}
			return d.moves(by)
		}
	}
	// A wall may send back more than comes straight: the filter has to reach that.
	for i := max(0, best-delayHz/50); i < best; i++ {
		if d.likeness[i] > peak/2 {
			best = i
			break
		}
	}
	at := samplesAs(float64(best))
	again := (at-d.candidate).Abs() < 3*time.Millisecond && d.candidate >= 0
	d.candidate = at
	if !again {
		return doubtful
	}
	d.known, d.at, d.candidate, d.creeps, d.unstable = true, at, -1, 0, 0
	d.profileAt, d.profiled = d.at, 0
	d.learn(0)
	return located
}

// stabilise takes that the room comes later by so many samples, once two comparisons
// in a row say so, to half a sample: a filter that is off by one leaves most of an echo.
func (d *delay) stabilise(by float64) finding {
	again := math.Abs(by-d.shift) < creepStep
	if d.shift = by; !again && d.unstable > 1 {
		d.unstable--
		return doubtful
	}
	d.unstable = 0
	return d.moves(by)
}

// moves takes that the room comes later by so many samples.
func (d *delay) moves(by float64) finding {
	d.at, d.by, d.shift, d.creeps, d.candidate = d.at+samplesAs(by), by, math.Inf(1), 0, -1
	return moved
}

func samplesAs(n float64) time.Duration { return time.Duration(n * float64(time.Second) / delayHz) }

// stays takes that the echo comes when it came before, or as good as: two clocks
// that differ make it creep.
func (d *delay) stays() finding {
	d.candidate, d.shift = -1, math.Inf(1)
	at := int(math.Round(d.at.Seconds() * delayHz))
	by, alike := d.moved(at-2, at+3)
	if alike < sameRoom {
		by = 0
	}
	d.creeps += (by - d.creeps) * creepFades
	if math.Abs(d.creeps) >= creepStep {
		d.by = math.Copysign(creepStep, d.creeps)
		d.at, d.creeps = d.at+samplesAs(d.by), d.creeps-d.by
		return crept
	}
	d.learn(d.creeps)
	return confirmed
}

// liken works out how alike both are at each delay, and returns the best.
func (d *delay) liken() (best int) {
	for k := range d.cross {
		d.x[k] = d.cross[k] / complex(math.Sqrt(d.powerIn[k]*d.powerOut[k])+1e-12, 0)
		if hz := min(k, delayPlayed-k) * delayHz / delayPlayed; hz < 150 || hz > 3600 {
			d.x[k] = 0
		}
	}
	d.transform.Back(d.x)
	var spread float64
	for i := range d.likeness {
		c := math.Abs(real(d.x[i]))
		spread += c * c
		if d.likeness[i] = c; c > d.likeness[best] {
			best = i
		}
	}
	spread = math.Sqrt(spread / float64(len(d.likeness)))
	d.strength = d.likeness[best] / (spread + 1e-12)
	return best
}

// wide is of how many frequencies a sound mainly is: a tone is as like itself a
// period later.
func wide(spectrum []complex128) float64 {
	var sum, squares float64
	for _, c := range spectrum {
		p := power2(c)
		sum, squares = sum+p, squares+p*p
	}
	return sum * sum / (squares + 1e-30)
}

// near is how alike both are at a delay.
func (d *delay) near(at time.Duration) (alike float64) {
	i := int(math.Round(at.Seconds() * delayHz))
	for _, v := range d.likeness[max(0, min(i-1, len(d.likeness))):max(0, min(i+2, len(d.likeness)))] {
		alike = max(alike, v)
	}
	return alike
}

// learn keeps how the room looks around the delay, where it comes by so many samples later
// than it is taken for: what is kept does not creep along.
func (d *delay) learn(creeps float64) {
	fades := float64(d.profiled) / float64(d.profiled+1)
	d.profiled = min(d.profiled+1, profileLooks)
	from := d.at.Seconds()*delayHz - d.off() + creeps - profileBefore
	for i := range d.profile {
		d.profile[i] = d.profile[i]*fades + d.between(from+float64(i))*(1-fades)
	}
}

// off is by how much the delay is later than the sample of the profile that stands for it.
func (d *delay) off() float64 {
	at := d.profileAt.Seconds() * delayHz
	return at - math.Round(at)
}

// between is how alike both are at a delay between two samples.
func (d *delay) between(at float64) float64 {
	k := int(math.Floor(at))
	if k < 0 || k+1 >= len(d.likeness) {
		return 0
	}
	part := at - float64(k)
	return d.likeness[k]*(1-part) + d.likeness[k+1]*part
}

// moved is by how many samples the room that is known comes later, where it comes
// delay one of the delays from least on and below most; and how alike it is to what is
// heard now, 1 at most.
func (d *delay) moved(least, most int) (by, alike float64) {
	least, most = max(0, least), min(most, len(d.likeness))
	if least >= most {
		return 0, 0
	}
	var own float64
	for _, v := range d.profile {
		own += v * v
	}
	fits := make([]float64, len(d.likeness))
	best := least
	for at := least; at < most; at++ { // where the profile begins, profileBefore samples before the delay
		var sum float64
		for i, v := range d.profile {
			if k := at - profileBefore + i; k >= 0 && k < len(d.likeness) {
				sum += v * d.likeness[k]
			}
		}
		if fits[at] = sum; sum > fits[best] {
			best = at
		}
	}
	var other float64
	for i := range d.profile {
		if k := best - profileBefore + i; k >= 0 && k < len(d.likeness) {
			other += d.likeness[k] * d.likeness[k]
		}
	}
	place := float64(best)
	if best > least && best < most-1 { // the top of a parabola through three
		a, b, c := fits[best-1], fits[best], fits[best+1]
		if down := a - 2*b + c; down < 0 {
			place += (a - c) / (2 * down)
		}
	}
	return place + d.off() - d.at.Seconds()*delayHz, fits[best] / math.Sqrt(own*other+1e-18)
}
