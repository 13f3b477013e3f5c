package ws

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/contract"
)

const (
	// longestFile is how much sound one message brings: 640 kB in base64. Many
	// WebSocket libraries, that of the published Python client among them, close
	// the connection at a message of more than 1 MiB unless told otherwise, and
	// the longest sentences are twice that.
	longestFile = 5 * time.Second
	// cutWithin is how far before that a cut is looked for, and cutHold how long
	// the silence should be in which it is made. A player may stumble between
	// two files; within a second of speech there is a place where that is not
	// heard.
	cutWithin = time.Second
	cutHold   = 20 * time.Millisecond
)

// firstFile is as much of pcm as one message brings: all of it, or the
// beginning up to where it is quiet.
func firstFile(pcm []float32) []float32 {
	longest := audio.Samples(longestFile, contract.OutputRateHz)
	if len(pcm) <= longest {
		return pcm
	}
	near := longest - audio.Samples(cutWithin, contract.OutputRateHz)
	return pcm[:near+quietest(pcm[near:longest], audio.Samples(cutHold, contract.OutputRateHz))]
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
