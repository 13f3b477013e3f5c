package audio

import (
	"math"
	"slices"
)

// Pitch is the pitch of a voice in Hz, the median over the frames in which it is
// voiced, and how far it moves: the standard deviation in semitones of those that
// lie within an octave of it. Both are 0 where nothing is voiced.
func Pitch(pcm []float32, rateHz int) (hz, movesSemitones float64) {
	t := newPitchTrack(rateHz)
	t.follow(pcm, 0, true)
	var voiced []float64
	for _, period := range t.periods {
		if period > 0 {
			voiced = append(voiced, float64(rateHz)/float64(period))
		}
	}
	if len(voiced) == 0 {
		return 0, 0
	}
	slices.Sort(voiced)
	hz = voiced[len(voiced)/2]
	var sum, squares, n float64
	for _, f := range voiced {
		if x := 12 * math.Log2(f/hz); math.Abs(x) < 12 { // beyond, the track has taken a multiple
			sum, squares, n = sum+x, squares+x*x, n+1
		}
	}
	return hz, math.Sqrt(max(squares/n-sum/n*sum/n, 0))
}
