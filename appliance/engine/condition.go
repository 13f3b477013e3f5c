package engine

import (
	"math"
	"slices"
)

const (
	// minOffset is the constant offset, -60 dB, from which it is taken out of the
	// sound: that of cheap sound cards hides quiet speech from detector and
	// transcriber. offsetFrames is how many frames without voice have to have it, an
	// eighth of a second: it is what is in all of them.
	minOffset    = 0.001
	offsetFrames = 4
	// enoughPeak is the peak, -20 dB, from which speech is heard as well as louder
	// speech: of 270 words of prompts 16 are wrong at that peak as at -10 dB, 28 at
	// -30, 56 at -40 and 174 at -46.
	enoughPeak = 0.1
	// maxGain bounds by how much what is softer is raised, 20 dB: speech that peaks
	// at -40 dB is enough then. What is much softer than that is somebody in another
	// room.
	maxGain = 10
	// raisedPeak is up to where a frame is raised for the detector, -26 dB, which is
	// enough for it: babble behind a voice is not to become one while nobody knows yet
	// how loud the speaker is.
	raisedPeak = 0.05
	// softPeak is the peak, -34 dB, up to which a detector needs that.
	softPeak = 0.02
	// levelFades is what is left of the level of a voice after a frame without it: half
	// of it after a minute, for the next one may be softer.
	levelFades = 1 - math.Ln2*FrameSamples/(60*SpeechRateHz)
)

// conditioning makes the sound of a microphone fit to be heard, frame by frame: it
// takes out what is constant, and raises what is soft, by no more than maxGain and
// by how loud the voices in it are, so that noise is not raised where voices are
// loud.
type conditioning struct {
	means      [offsetFrames]float32 // of the newest frames without voice
	silent     int                   // how many of them there were
	offset     float32               // that all of them have
	level      float32               // the peak of the voices so far; 0: none was heard
	sound      [FrameSamples]float32
	raisedWave [FrameSamples]float32
}

// removeOffset is a frame without a constant offset, valid until the next one.
func (c *conditioning) removeOffset(frame []float32) []float32 {
	if c.offset < minOffset && c.offset > -minOffset {
		return frame
	}
	for i, x := range frame {
		c.sound[i] = x - c.offset
	}
	return c.sound[:]
}

// raise is a steady frame for the detector, valid until the next one.
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

// observe notes whether a frame, which was made steady, held voice.
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

// gainFor is by how much a voice of that peak is raised.
func gainFor(peak float32) float32 { return min(enoughPeak/max(peak, enoughPeak/maxGain), maxGain) }

// raiseSoft is the sound of an utterance for a transcriber: raised where it is soft, as
// a whole. What is loud enough is returned as it is.
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
