package engine

import (
	"math"
	"slices"
)

const (
	// minOffset is the constant offset, -60 dB, from which it is removed from the sound: the offset
	// of cheap sound cards hides quiet speech from detector and transcriber. offsetFrames is how
	// many frames without voice must have it, an eighth of a second.
	minOffset    = 0.001
	offsetFrames = 4
	// enoughPeak is the peak, -20 dB, from which speech is recognised as well as louder speech. Of
	// 270 words of prompts, 16 are wrong at that peak as at -10 dB, 28 at -30, 56 at -40 and 174 at
	// -46.
	enoughPeak = 0.1
	// maxGain is the largest gain for softer speech, 20 dB, which is enough for speech that peaks
	// at -40 dB. Anything much softer is probably a person in another room.
	maxGain = 10
	// raisedPeak is the peak to which a frame is raised for the detector, -26 dB, which is enough
	// for it. More would turn background babble into voice while the level of the speaker is still
	// unknown.
	raisedPeak = 0.05
	// softPeak is the peak, -34 dB, below which a frame is raised for the detector.
	softPeak = 0.02
	// levelFades is the factor of the voice level per frame without voice: the level halves in a
	// minute, since the next speaker may be softer.
	levelFades = 1 - math.Ln2*FrameSamples/(60*SpeechRateHz)
)

// conditioning prepares microphone sound for detection and recognition, frame by frame. It removes
// a constant offset and raises soft sound by at most maxGain, relative to the level of the voices
// so far, so that noise is not raised where voices are loud.
type conditioning struct {
	means      [offsetFrames]float32 // of the newest frames without voice
	silent     int                   // how many frames without voice there were
	offset     float32               // common to all of means
	level      float32               // the peak of the voices so far; 0 if there was none
	sound      [FrameSamples]float32
	raisedWave [FrameSamples]float32
}

// removeOffset returns frame without its constant offset, valid until the next call.
func (c *conditioning) removeOffset(frame []float32) []float32 {
	if c.offset < minOffset && c.offset > -minOffset {
		return frame
	}
	for i, x := range frame {
		c.sound[i] = x - c.offset
	}
	return c.sound[:]
}

// raise returns a frame without offset, amplified for the detector, valid until the next call.
func (c *conditioning) raise(frame []float32) []float32 {
	gain := raisedPeak / max(peakOf(frame), c.level, raisedPeak/maxGain)
	if gain < raisedPeak/softPeak {
		return frame
	}
	for i, x := range frame {
		c.raisedWave[i] = gain * x
	}
	return c.raisedWave[:]
}

// observe records whether a frame held voice; steady is the frame without offset.
func (c *conditioning) observe(frame, steady []float32, voice bool) {
	if c.level *= levelFades; voice {
		c.level = max(c.level, peakOf(steady))
		return
	}
	var mean float32
	for _, x := range frame {
		mean += x / FrameSamples
	}
	c.means[c.silent%offsetFrames] = mean
	c.silent++
	least, most := slices.Min(c.means[:]), slices.Max(c.means[:])
	switch {
	case c.silent < offsetFrames || least <= 0 && most >= 0:
		c.offset = 0
	case least > 0:
		c.offset = least
	default:
		c.offset = most
	}
}

// gainFor returns the gain for a voice with this peak.
func gainFor(peak float32) float32 { return min(enoughPeak/max(peak, enoughPeak/maxGain), maxGain) }

// raiseSoft returns an utterance for the transcriber, amplified as a whole if it is soft. Speech
// that is loud enough is returned unchanged.
func raiseSoft(pcm []float32) []float32 {
	gain := gainFor(peakOf(pcm))
	if gain <= 1 || len(pcm) == 0 {
		return pcm
	}
	out := slices.Clone(pcm)
	for i := range out {
		out[i] *= gain
	}
	return out
}

func peakOf(pcm []float32) (peak float32) {
	for _, x := range pcm {
		peak = max(peak, x, -x)
	}
	return peak
}
