package clean

import (
	"math"
	"math/cmplx"
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/fourier"
)

const (
	// delayHz is the rate at which the delay is searched: an eighth of a millisecond is precise
	// enough, and most of a voice lies below 4 kHz.
	delayHz = 8000
	// delayHeard samples of the microphone, half a second, are compared with delayPlayed
	// samples of playback, so that echoes are found up to a delay of half a second. Both are
	// powers of two.
	delayHeard, delayPlayed = 4096, 8192
	// delayEvery is how often the delay is searched: twice within the time in which a voice is
	// recognised. delayFades is the weight of earlier comparisons: a larger weight is more
	// reliable, but slower to detect a change.
	delayEvery, delayFades = delayHz / 8, 0.3
	// profileBefore and profileLength delimit the part of the likeness around the delay that
	// characterises the room: 65 ms of reflections. The profile is a mean over about
	// profileLooks looks, an eighth of a second apart; a mean over fewer would drift along with
	// two clocks that differ by some ppm, unnoticed.
	profileBefore, profileLength = delayHz / 200, delayHz * 65 / 1000
	profileLooks                 = 100
	// creepFades is the weight of one comparison in the drift of the delay, and creepStep the
	// drift from which it is corrected: a sample at 16 kHz.
	creepFades, creepStep = 0.25, 0.5
	// maxUnstable is how many consecutive comparisons may find different delays before the last
	// one is accepted: a second.
	maxUnstable = 8
	// sameRoom is the least likeness of two profiles of the same room.
	sameRoom = 0.6
	// delaySure is by how much the best delay must stand out, in standard deviations of all
	// delays: by chance, the largest of 4096 has 4.5.
	delaySure = 9
	// delayWide is how many frequencies, of 8192, playback must consist of, since a tone
	// resembles itself a period later. The two tones at the beginning of a conversation have 28
	// to 37, voices mostly 45 to 300.
	delayWide = 42
	// delayQuiet is the power below which playback is too soft to be found: -55 dB of full
	// scale.
	delayQuiet = 3e-6
)

// delay finds the delay of the echo by generalized cross-correlation (C. Knapp and G. Carter,
// 1976), weighted by the coherence of both sides, so that other sounds count little.
type delay struct {
	transform         *fourier.Transform
	toHeard, toPlayed *audio.Resampler
	heard, played     []float32 // the newest, at delayHz
	fresh             int       // samples not compared yet
	cross             []complex128
	powerIn, powerOut []float64
	x, y              []complex128
	known             bool
	at                time.Duration
	candidate         time.Duration
	strength          float64
	likeness          []float64     // of each delay, by the newest comparison
	profile           []float64     // the likeness around the known delay
	profileAt         time.Duration // the delay when it was first learned
	profiled          int           // number of looks that it was learned from
	shift             float64       // of the delay by the newest comparison, in samples at delayHz
	by                float64       // by how much the delay changed, for moved and crept
	width             float64       // how many frequencies the newest playback has
	// unstable is how many comparisons may still follow a change of the delay, until two in a row
	// agree to the sample; 0: the delay is precise.
	unstable int
	creeps   float64 // mean error of the delay
}

// finding is the result of a comparison.
type finding int

const (
	nothing   finding = iota
	confirmed         // the delay is unchanged
	doubtful          // the delay seems to have changed; the next comparison decides
	moved             // the delay has changed in the same room
	crept             // the delay has drifted a little
	located           // the delay is known for the first time, or in another room
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

// frame adds a frame of both sides, and returns what is newly known about the delay.
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
	// Some of the half second of playback that may be echoed must be loud enough.
	if meanPower(d.played[delayPlayed-delayHeard-delayHeard/2:]) < delayQuiet {
		return nothing
	}
	d.compare()
	return d.search()
}

// forget discards all earlier sound: the delay has changed, by an unknown amount.
func (d *delay) forget() {
	clear(d.cross)
	clear(d.powerIn)
	clear(d.powerOut)
	clear(d.heard)
	d.fresh, d.unstable, d.shift = 0, maxUnstable, math.Inf(1)
}

func meanPower(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(pcm))
}

// compare adds the newest sound to the spectra.
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
	d.width = bandwidth(d.y[:delayPlayed/2])
	for k := range d.cross {
		d.cross[k] = d.cross[k]*delayFades + d.x[k]*cmplx.Conj(d.y[k])
		d.powerIn[k] = d.powerIn[k]*delayFades + squaredMagnitude(d.x[k])
		d.powerOut[k] = d.powerOut[k]*delayFades + squaredMagnitude(d.y[k])
	}
}

func squaredMagnitude(c complex128) float64 { return real(c)*real(c) + imag(c)*imag(c) }

// search searches the delay with the greatest likeness. It must stand out in two comparisons.
func (d *delay) search() finding {
	best := d.computeLikeness()
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
		if d.likenessAt(d.at) >= peak/2 {
			return d.keepDelay()
		}
		by, alike := d.moved(0, len(d.likeness))
		if alike >= sameRoom && math.Abs(by) < 1.5 { // another wall reflects more than before
			return d.keepDelay()
		}
		if alike >= sameRoom {
			again := math.Abs(by-d.shift) < 2
			if d.shift = by; !again {
				return doubtful
			}
			return d.moveDelay(by)
		}
	}
	// A reflection may be stronger than the direct sound, which the filter has to include.
	for i := max(0, best-delayHz/50); i < best; i++ {
		if d.likeness[i] > peak/2 {
			best = i
			break
		}
	}
	at := durationOf(float64(best))
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

// stabilise accepts that the delay has changed by some samples, when two comparisons in a row
// agree to half a sample: a filter that is off by one sample leaves most of an echo.
func (d *delay) stabilise(by float64) finding {
	again := math.Abs(by-d.shift) < creepStep
	if d.shift = by; !again && d.unstable > 1 {
		d.unstable--
		return doubtful
	}
	d.unstable = 0
	return d.moveDelay(by)
}

// moveDelay accepts that the delay has changed by some samples.
func (d *delay) moveDelay(by float64) finding {
	d.at, d.by, d.shift, d.creeps, d.candidate = d.at+durationOf(by), by, math.Inf(1), 0, -1
	return moved
}

func durationOf(n float64) time.Duration { return time.Duration(n * float64(time.Second) / delayHz) }

// keepDelay accepts that the delay is unchanged, except for the drift of two different clocks.
func (d *delay) keepDelay() finding {
	d.candidate, d.shift = -1, math.Inf(1)
	at := int(math.Round(d.at.Seconds() * delayHz))
	by, alike := d.moved(at-2, at+3)
	if alike < sameRoom {
		by = 0
	}
	d.creeps += (by - d.creeps) * creepFades
	if math.Abs(d.creeps) >= creepStep {
		d.by = math.Copysign(creepStep, d.creeps)
		d.at, d.creeps = d.at+durationOf(d.by), d.creeps-d.by
		return crept
	}
	d.learn(d.creeps)
	return confirmed
}

// computeLikeness computes the likeness of each delay, and returns the best.
func (d *delay) computeLikeness() (best int) {
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

// bandwidth returns how many frequencies a sound mainly has: a tone resembles itself a period later.
func bandwidth(spectrum []complex128) float64 {
	var sum, squares float64
	for _, c := range spectrum {
		p := squaredMagnitude(c)
		sum, squares = sum+p, squares+p*p
	}
	return sum * sum / (squares + 1e-30)
}

// likenessAt returns the likeness at a delay.
func (d *delay) likenessAt(at time.Duration) (alike float64) {
	i := int(math.Round(at.Seconds() * delayHz))
	for _, v := range d.likeness[max(0, min(i-1, len(d.likeness))):max(0, min(i+2, len(d.likeness)))] {
		alike = max(alike, v)
	}
	return alike
}

// learn adds the likeness around the delay to the profile, corrected by the delay's drift, so
// that the profile does not drift along.
func (d *delay) learn(creeps float64) {
	fades := float64(d.profiled) / float64(d.profiled+1)
	d.profiled = min(d.profiled+1, profileLooks)
	from := d.at.Seconds()*delayHz - d.off() + creeps - profileBefore
	for i := range d.profile {
		d.profile[i] = d.profile[i]*fades + d.likenessBetween(from+float64(i))*(1-fades)
	}
}

// off returns by how much the delay exceeds the sample of the profile that stands for it.
func (d *delay) off() float64 {
	at := d.profileAt.Seconds() * delayHz
	return at - math.Round(at)
}

// likenessBetween returns the likeness at a fractional delay.
func (d *delay) likenessBetween(at float64) float64 {
	k := int(math.Floor(at))
	if k < 0 || k+1 >= len(d.likeness) {
		return 0
	}
	part := at - float64(k)
	return d.likeness[k]*(1-part) + d.likeness[k+1]*part
}

// moved returns by how many samples the known room has moved, among the delays from least to
// below most, and its likeness to the present sound, 1 at most.
func (d *delay) moved(least, most int) (by, alike float64) {
	least, most = max(0, least), min(most, len(d.likeness))
	if least >= most {
		return 0, 0
	}
	var energy float64
	for _, v := range d.profile {
		energy += v * v
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
	position := float64(best)
	if best > least && best < most-1 { // the vertex of a parabola through three points
		a, b, c := fits[best-1], fits[best], fits[best+1]
		if down := a - 2*b + c; down < 0 {
			position += (a - c) / (2 * down)
		}
	}
	return position + d.off() - d.at.Seconds()*delayHz, fits[best] / math.Sqrt(energy*other+1e-18)
}
