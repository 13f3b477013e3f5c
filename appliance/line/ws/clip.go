package ws

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// longestFile is how much sound one message brings: 192 kB in base64. A message
	// on its way cannot be taken back, and what comes behind it waits: an
	// interruption a second, on a link that is half as fast again as speech. Many
	// WebSocket libraries, that of the published Python client among them, close
	// the connection at a message of more than 1 MiB unless told otherwise.
	longestFile = 1500 * time.Millisecond
	// firstLongest is how much the first file of a message brings: it can be
	// decoded and played while the rest is still on its way.
	firstLongest = 400 * time.Millisecond
	// cutWithin is how far before its end a cut is looked for, and minCutPause how
	// long the silence should be in which it is made. Web clients decode each
	// file by itself and begin it when the one before has ended, some
	// milliseconds late; within half a second of speech there is a place where
	// that is hardly heard.
	cutWithin   = 500 * time.Millisecond
	minCutPause = 10 * time.Millisecond
	// cutCrossing is how far from there the sound is looked at for a place where
	// it passes zero, so that it does not click.
	cutCrossing = 3 * time.Millisecond
)

// A clip is the sound of one message on its way into files.
type clip struct {
	id, session string
	files       int       // so far
	pending     []float32 // not in a file yet
	cuts        int64     // how often Cut had been called when held came
}

// next takes as much sound off as the next file brings, which is none while
// more has to come first to find a good place for its end.
func (c *clip) next(last bool) []float32 {
	n := min(len(c.pending), c.longest())
	if !last || n < len(c.pending) {
		n = cutNear(c.pending[:n])
	}
	part := c.pending[:n:n]
	c.pending = c.pending[n:]
	return part
}

// longest is how many samples the next file has at most.
func (c *clip) longest() int {
	if c.files == 0 {
		return audio.Samples(firstLongest, contract.OutputRateHz)
	}
	return audio.Samples(longestFile, contract.OutputRateHz)
}

// cutNear is the quietest place near the end of pcm.
func cutNear(pcm []float32) int {
	hold := audio.Samples(minCutPause, contract.OutputRateHz)
	near := max(len(pcm)/2, len(pcm)-audio.Samples(cutWithin, contract.OutputRateHz))
	if len(pcm)-near < hold {
		return 0 // too little to choose from
	}
	return crossing(pcm, near+quietest(pcm[near:], hold))
}

// crossing is the place nearest to at where pcm passes zero, or at where it does
// not.
func crossing(pcm []float32, at int) int {
	for d := range audio.Samples(cutCrossing, contract.OutputRateHz) {
		for _, i := range [...]int{at - d, at + d} {
			if i > 0 && i < len(pcm) && (pcm[i-1] <= 0) != (pcm[i] <= 0) {
				return i
			}
		}
	}
	return at
}

// quietest is the middle of the window samples of pcm that have the least
// energy. There have to be so many.
func quietest(pcm []float32, window int) int {
	var energy float64
	for _, v := range pcm[:window] {
		energy += float64(v) * float64(v)
	}
	best, least := 0, energy
	for i, v := range pcm[window:] {
		energy += float64(v)*float64(v) - float64(pcm[i])*float64(pcm[i])
		if energy < least {
			best, least = i+1, energy
		}
	}
	return best + window/2
}
