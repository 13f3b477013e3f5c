package audio

import (
	"math"
	"time"
)

// limitReach is how many samples before and after a peak the limiter turns
// down: 5 ms at 48 kHz, slow enough not to click and quick enough not to pump.
const limitReach = 240

// Limit turns pcm down, in place, where it goes beyond ±ceiling, and there
// smoothly: the gain each sample needs, held over limitReach samples to either
// side and then averaged over as many, so that it falls before the peak and
// recovers after it. Elsewhere pcm stays as it is. A ceiling of 0 or less
// silences.
func Limit(pcm []float32, ceiling float32) {
	if ceiling <= 0 {
		clear(pcm)
		return
	}
	need := make([]float32, len(pcm))
	over := false
	for i, v := range pcm {
		need[i] = 1
		if a := float32(math.Abs(float64(v))); a > ceiling {
			need[i], over = ceiling/a, true
		}
	}
	if !over {
		return
	}
	held := slidingMin(need, limitReach)
	smoothGain(pcm, held, limitReach/2)
	for i, v := range pcm { // what rounding leaves over
		pcm[i] = min(max(v, -ceiling), ceiling)
	}
}

// slidingMin returns at each place the least of x within reach of it.
func slidingMin(x []float32, reach int) []float32 {
	out := make([]float32, len(x))
	var rising []int // places, with rising values, that may yet be the least
	next := 0
	for i := range out {
		for ; next < len(x) && next <= i+reach; next++ {
			for len(rising) > 0 && x[rising[len(rising)-1]] >= x[next] {
				rising = rising[:len(rising)-1]
			}
			rising = append(rising, next)
		}
		if rising[0] < i-reach {
			rising = rising[1:]
		}
		out[i] = x[rising[0]]
	}
	return out
}

// smoothGain multiplies pcm by gain averaged over reach samples to either side.
// Beyond the ends the gain is that of the end.
func smoothGain(pcm, gain []float32, reach int) {
	at := func(i int) float64 { return float64(gain[min(max(i, 0), len(gain)-1)]) }
	sum := 0.0
	for i := -reach; i <= reach; i++ {
		sum += at(i)
	}
	for i := range pcm {
		if g := sum / float64(2*reach+1); g < 1-1e-9 {
			pcm[i] *= float32(g)
		}
		sum += at(i+reach+1) - at(i-reach)
	}
}

// FadeEdges fades pcm in and out over d at each end, in place, along half a
// period of a cosine. Audio shorter than twice d is faded over its halves.
func FadeEdges(pcm []float32, rateHz int, d time.Duration) {
	n := min(int(int64(d)*int64(rateHz)/int64(time.Second)), len(pcm)/2)
	for i := range n {
		g := float32(0.5 - 0.5*math.Cos(math.Pi*float64(i)/float64(n)))
		pcm[i] *= g
		pcm[len(pcm)-1-i] *= g
	}
}
