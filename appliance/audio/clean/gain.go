package clean

import (
	"math"
	"time"
)

const (
	// targetLevel is the target level of a person, -23 dB of full scale while speaking: about as loud
	// as a headset.
	targetLevel = 0.07
	// maxLift is the largest gain for a distant person, 18 dB: at two metres a voice is 12 dB
	// softer than at half a metre, and noise has to stay noise. Nobody is made softer.
	maxLift = 8.0
	// liftUp and liftDown are the gain steps of a frame with speech, 3 dB and 12 dB a second:
	// slower than words, so that no word is louder than the next.
	liftUp, liftDown = 1.0035, 0.9863
	// voiceOverNoise is how far a frame must exceed the noise to be a voice, in power: 12 dB.
	voiceOverNoise = 16
	// The noise is the lowest level of the last second or two: voices pause between syllables.
	// Sound below leastNoise, -75 dB of full scale, is not a voice.
	noiseFrames = 100
	leastNoise  = 3e-8
	// voiceFades is the smoothing of a voice's loudness per frame: over two seconds of speech.
	// levelFades is that of a frame's, over 50 ms: shorter sounds are clicks.
	voiceFades, levelFades = 0.995, 0.8
	// bright is the pre-emphasis of high frequencies over low ones, where room noise is.
	bright = 0.9

	// echoGone is the attenuation of a frame, in power, from which the filter counts as having
	// removed most of it: 6 dB. A person who speaks as loud as the echo leaves half. Softer
	// frames are attenuated by as much again, down to an eighth, and get no gain.
	echoGone, echoShut = 0.25, 0.125
	// assumedGain is the gain of sound that counts as echo, -40 dB: a voice detector still
	// recognises a voice at -18 dB.
	assumedGain = 0.01
	// doubtHeard is the power below which sound does not count as echo, -50 dB.
	doubtHeard = 1e-5
	// overHeard is by how much the residual may exceed the microphone's sound, in power: 3 dB.
	overHeard = 2
	// learning is how many frames of echo the filter needs to know a room well; until then the
	// attenuation of residuals is squared.
	learning = 400
	// learningFirst is for how many of those frames all sound counts as echo: a new filter
	// leaves residuals that resemble a voice.
	learningFirst = 60
	// learningMost is the same while the filter has not removed 10 dB of the echo yet.
	learningMost = 200
	// playedFades is the decay of playback per frame, in a room whose sound falls by 60 dB in
	// half a second. playedLeast is the power that counts as playback, -60 dB of full scale.
	playedFades, playedLeast = 0.76, 1e-6
	// opens and echoShuts are how fast the gate opens for a person and closes for residual
	// echo: within two and eight frames. doubtShuts is how fast it closes for sound that counts
	// as echo.
	opens, echoShuts, doubtShuts = 0.4, 0.12, 0.6
	// unknownFrames is how many frames after unknown playback its echo may come.
	unknownFrames = 8
	// ceiling is the highest peak.
	ceiling = 0.97
)

// gain equalises the loudness of people, and attenuates residual echo.
type gain struct {
	lifts         bool
	lift          float64 // of a person
	voice         float64 // power
	least, before float64 // power within this second and the one before
	frames        int     // of this second
	played, heard float64 // powers, with the decay of the room
	left, level   float64
	learned       int     // frames of echo that the filter has learned from
	last          float64 // the last sample
	open          float64 // 1; less for residual echo
	now           float64 // the gain of the last sample
	unknown       int     // frames for which something may be played
	assumed       int     // frames for which all sound counts as echo during playback
	echoes        int     // frames for which the residual is echo
	known         bool    // the filter has cancelled an echo in this room
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

// frame processes the residual of the frame before heard: the suppressor delays it by one
// frame.
func (g *gain) frame(left, heard, played []float32) {
	power := meanPower(left)
	g.played = max(meanPower(played), g.played*playedFades)
	before := g.heard // of the frame of left
	g.heard = max(meanPower(heard), g.heard*playedFades)
	g.left = max(power, g.left*playedFades)
	echo := g.played > playedLeast || g.unknown > 0
	g.follow(echo)
	g.level = g.level*levelFades + g.brightness(left)*(1-levelFades)
	if noise := g.noise(); g.lifts && !echo && g.level > noise*voiceOverNoise {
		g.adjust(power)
	}
	to := g.open * (1 + (g.lift-1)*max(0, (g.open-echoShut)/(1-echoShut)))
	// the filter subtracts an echo that no longer arrives
	if limit := max(before, g.heard) * overHeard; echo && g.left > limit {
		to *= math.Sqrt(limit / g.left)
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

// restart records that the filter was reset.
func (g *gain) restart() { g.learned = 0 }

// echoReturned reports that the filter leaves an echo that it once cancelled: it learns the room as
// if it was reset.
func (g *gain) echoReturned() { g.learned = 0 }

// assumeEcho makes all sound during playback count as echo, for so long.
func (g *gain) assumeEcho(long time.Duration) { g.assumed = int(long / FrameTime) }

// assumedFor returns how much of that time is left.
func (g *gain) assumedFor() time.Duration { return time.Duration(g.assumed) * FrameTime }

// follow opens the gate for a person, and closes it for residual echo.
func (g *gain) follow(echo bool) {
	to, shuts := 1.0, echoShuts
	if g.played > playedLeast {
		g.learned++
	}
	g.echoes = max(0, g.echoes-1)
	if echo && (g.echoes > 0 || g.unknown > 0 || g.assumed > 0 || g.learned < learningFirst ||
		!g.known && g.learned < learningMost) {
		g.unknown = max(0, g.unknown-1)
		if g.heard > doubtHeard { // otherwise there is no echo to learn from
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

// noise returns the power of the background noise, infinite if unknown.
func (g *gain) noise() float64 {
	if g.frames++; g.frames < 0 {
		return math.Inf(1) // the first frames fade in
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

// brightness returns the power of a frame with pre-emphasis.
func (g *gain) brightness(pcm []float32) float64 {
	var sum float64
	for _, v := range pcm {
		x := float64(v) - bright*g.last
		g.last = float64(v)
		sum += x * x
	}
	return sum / float64(len(pcm))
}

// adjust adapts the gain to a frame of a voice.
func (g *gain) adjust(power float64) {
	if g.voice == 0 {
		g.voice = power
	}
	g.voice = g.voice*voiceFades + power*(1-voiceFades)
	want := min(max(targetLevel/math.Sqrt(g.voice), 1), maxLift)
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
