package clean

import (
	"math"
	"time"
)

const (
	// loud is how loud a person is made, -23 dB of full scale while speaking: about
	// as loud as a headset.
	loud = 0.07
	// mostLift is how much louder somebody far away is made, 18 dB: from two metres
	// a voice is 12 dB softer than from half a metre, and noise has to stay noise.
	// Nobody is made softer.
	mostLift = 8.0
	// liftUp and liftDown are the steps of a frame in which somebody speaks, 3 dB a
	// second and 12: slower than words, so that none is louder than its neighbour.
	liftUp, liftDown = 1.0035, 0.9863
	// voiceOverNoise is how far a frame must stand out of the noise to be a voice, in
	// power: 12 dB.
	voiceOverNoise = 16
	// The noise is the least within the last second or two: voices pause between
	// syllables. What is softer than leastNoise, -75 dB of full scale, is no voice.
	noiseFrames = 100
	leastNoise  = 3e-8
	// voiceFades is what a voice's measured loudness keeps a frame: two seconds of
	// speech make most of it. levelFades is the same of a frame's, over 50 ms: what
	// is shorter is a click.
	voiceFades, levelFades = 0.995, 0.8
	// bright weighs the high against the low, where the noise of rooms lies.
	bright = 0.9

	// echoGone is how much softer than what was heard a frame is of which the filter
	// took most, in power: 6 dB. Whoever speaks as loud as the echo leaves half. What
	// is softer than that is made softer still by as much again, down to an eighth,
	// and without any lift.
	echoGone, echoShut = 0.25, 0.125
	// assumedGain is how much is left of what counts as echo, -40 dB: of 18 dB less a voice
	// detector still knows the voice.
	assumedGain = 0.01
	// doubtHeard is the power below which what is heard is no echo that counts, -50 dB.
	doubtHeard = 1e-5
	// overHeard is by how much more than was heard may be left, in power: 3 dB.
	overHeard = 2
	// learning is how many frames of an echo the filter takes to know a room well;
	// until then what is left counts twice.
	learning = 400
	// learningFirst is how many of them all counts as echo: the filter knows too little
	// of a room that it begins with to leave nothing of it that is like a voice.
	learningFirst = 60
	// learningMost is the same where the filter has not taken out 10 dB of it yet.
	learningMost = 200
	// playedFades is what is left of what was played after a frame, in a room that
	// fades by 60 dB in half a second; playedLeast what counts as being played, -60
	// dB of full scale.
	playedFades, playedLeast = 0.76, 1e-6
	// opens and echoShuts are how fast the way is open for somebody, and shut for what
	// is left of an echo: in two frames, and in eight; doubtShuts the same for what counts
	// as one.
	opens, echoShuts, doubtShuts = 0.4, 0.12, 0.6
	// unknownFrames is for how long after a piece of what was played that is not known
	// its echo may come.
	unknownFrames = 8
	// ceiling is how far a peak may reach.
	ceiling = 0.97
)

// gain makes a person as loud as others, and what is left of an echo softer still.
type gain struct {
	lifts         bool
	lift          float64 // of a person
	voice         float64 // power
	least, before float64 // power within this second, and the one before
	frames        int     // of this second
	played, heard float64 // powers, of what is still in the room
	left, level   float64
	learned       int     // frames of an echo that the filter has learned from
	last          float64 // sample
	open          float64 // 1; less where what is left is echo
	now           float64 // what the last sample was multiplied with
	unknown       int     // frames for which something may be played
	assumed       int     // frames for which all counts as echo while something is played
	echoes        int     // frames for which what is left is an echo
	known         bool    // the filter has taken out an echo in this room
}

func newGain(lifts bool) *gain {
	return &gain{
		lifts:  lifts,
		lift:   1,
		open:   1,
		now:    1,
		least:  math.Inf(1),
		before: math.Inf(1),
		frames: -noiseFrames / 5,
	}
}

// frame works on what is left of a frame, and of the frame before, as heard: what
// is left comes one later.
func (g *gain) frame(left, heard, played []float32) {
	power := mean(left)
	g.played = max(mean(played), g.played*playedFades)
	before := g.heard // with that of the frame of which left is
	g.heard = max(mean(heard), g.heard*playedFades)
	g.left = max(power, g.left*playedFades)
	echo := g.played > playedLeast || g.unknown > 0
	g.follow(echo)
	g.level = g.level*levelFades + g.brightness(left)*(1-levelFades)
	if noise := g.noise(); g.lifts && !echo && g.level > noise*voiceOverNoise {
		g.adjust(power)
	}
	to := g.open * (1 + (g.lift-1)*max(0, (g.open-echoShut)/(1-echoShut)))
	// the filter takes out what does not come any more
	if most := max(before, g.heard) * overHeard; echo && g.left > most {
		to *= math.Sqrt(most / g.left)
		g.now = min(g.now, to)
	}
	if peak := peakOf(left); peak*to > ceiling {
		to = ceiling / peak
		g.now = min(g.now, to)
	}
	step := (to - g.now) / float64(len(left))
	for i, v := range left {
		g.now += step
		left[i] = float32(float64(v) * g.now)
	}
}

// begin says that the filter learns anew.
func (g *gain) begin() { g.learned = 0 }

// returns says that there is an echo that the filter knew once and leaves now: it
// learns the room as if it began anew.
func (g *gain) returns() { g.learned = 0 }

// assumeEcho has all that is heard while something is played count as its echo, for so
// long of what is heard.
func (g *gain) assumeEcho(long time.Duration) { g.assumed = int(long / FrameTime) }

// assumedFor is for how long that is still so.
func (g *gain) assumedFor() time.Duration { return time.Duration(g.assumed) * FrameTime }

// follow opens the way for somebody, and shuts it for what is left of an echo.
func (g *gain) follow(echo bool) {
	to, shuts := 1.0, echoShuts
	if g.played > playedLeast {
		g.learned++
	}
	g.echoes = max(0, g.echoes-1)
	if echo && (g.echoes > 0 || g.unknown > 0 || g.assumed > 0 || g.learned < learningFirst ||
		!g.known && g.learned < learningMost) {
		g.unknown = max(0, g.unknown-1)
		if g.heard > doubtHeard { // else there is no echo that could tell
			g.assumed = max(0, g.assumed-1)
		}
		to, shuts = assumedGain, doubtShuts
	} else if echo && g.left < g.heard*echoGone {
		to = math.Sqrt(g.left / (g.heard * echoGone))
		if g.learned < learning {
			to *= to
		}
		to = max(echoShut, to)
	}
	if to > g.open {
		g.open += (to - g.open) * opens
	} else {
		g.open += (to - g.open) * shuts
	}
}

// noise is the power of the place; without end where it is not known yet.
func (g *gain) noise() float64 {
	if g.frames++; g.frames < 0 {
		return math.Inf(1) // the first of all fade in
	}
	g.least = min(g.least, g.level)
	noise := max(min(g.least, g.before), leastNoise)
	if math.IsInf(g.before, 1) {
		noise = g.before
	}
	if g.frames == noiseFrames {
		g.frames, g.before, g.least = 0, g.least, math.Inf(1)
	}
	return noise
}

// brightness is the power of a frame with what is low made soft.
func (g *gain) brightness(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		x := float64(v) - bright*g.last
		g.last = float64(v)
		sum += x * x
	}
	return sum / float64(len(pcm))
}

// adjust takes a frame of somebody's voice.
func (g *gain) adjust(power float64) {
	if g.voice == 0 {
		g.voice = power
	}
	g.voice = g.voice*voiceFades + power*(1-voiceFades)
	want := min(max(loud/math.Sqrt(g.voice), 1), mostLift)
	if want > g.lift {
		g.lift = min(g.lift*liftUp, want)
	} else {
		g.lift = max(g.lift*liftDown, want)
	}
}

func peakOf(pcm []float32) float64 {
	var peak float64
	for _, v := range pcm {
		peak = max(peak, math.Abs(float64(v)))
	}
	return peak
}
