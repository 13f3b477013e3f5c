package ws

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// maxFile bounds the sound in one message: 192 kB in base64. A message on its way
	// cannot be taken back, and delays what follows: an interruption by a second, on a link
	// 1.5 times as fast as speech. Many WebSocket libraries, among them that of the
	// published Python client, close the connection at a message of more than 1 MiB by
	// default.
	maxFile = 1500 * time.Millisecond
	// maxFirstFile bounds the first file of an assistant message: it can be decoded and
	// played while the rest is on its way.
	maxFirstFile = 400 * time.Millisecond
	// cutWithin is how far before its end a file may be cut, and minCutPause the length of
	// the silence that is looked for. Web clients decode each file separately and start it
	// some milliseconds late; half a second of speech has a place where that is hardly
	// audible.
	cutWithin   = 500 * time.Millisecond
	minCutPause = 10 * time.Millisecond
	// cutCrossing is how far from the cut a zero crossing is looked for, which avoids
	// clicks.
	cutCrossing = 3 * time.Millisecond
)

// A clip is the sound of one assistant message on its way into files.
type clip struct {
	id, session string
	files       int       // number so far
	pending     []float32 // not in a file yet
	cuts        int64     // value of soundQueue.cuts when pending came
}

// next removes and returns the sound of the next file. It is empty if more sound is needed
// to find a good place for the cut.
func (c *clip) next(last bool) []float32 {
	n := min(len(c.pending), c.maxSamples())
	if !last || n < len(c.pending) {
		n = cutNear(c.pending[:n])
	}
	part := c.pending[:n:n]
	c.pending = c.pending[n:]
	return part
}

// maxSamples bounds the next file.
func (c *clip) maxSamples() int {
	if c.files == 0 {
		return audio.Samples(maxFirstFile, contract.OutputRateHz)
	}
	return audio.Samples(maxFile, contract.OutputRateHz)
}

// cutNear returns the quietest place near the end of pcm.
func cutNear(pcm []float32) int {
	hold := audio.Samples(minCutPause, contract.OutputRateHz)
	near := max(len(pcm)/2, len(pcm)-audio.Samples(cutWithin, contract.OutputRateHz))
	if len(pcm)-near < hold {
		return 0 // too short
	}
	return crossing(pcm, near+quietest(pcm[near:], hold))
}

// crossing returns the zero crossing of pcm nearest to at; at if there is none.
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

// quietest returns the middle of the window of samples with the least energy. pcm has at
// least window samples.
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
