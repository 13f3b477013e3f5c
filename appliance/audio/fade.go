package audio

import (
	"math"
	"time"
)

// FadeEdges fades pcm in and out over d at each end, in place, along half a period of a cosine.
// If pcm is shorter than twice d, each half is faded.
func FadeEdges(pcm []float32, rateHz int, d time.Duration) {
	n := min(int(int64(d)*int64(rateHz)/int64(time.Second)), len(pcm)/2)
	for i := range n {
		g := float32(0.5 - 0.5*math.Cos(math.Pi*float64(i)/float64(n)))
		pcm[i] *= g
		pcm[len(pcm)-1-i] *= g
	}
}
