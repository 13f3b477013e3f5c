package clean

import (
	"time"

	"parley/appliance/audio/fourier"
)

const (
	// recallTail is how much of a room's response is stored, and recallWindow the length of
	// sound that is compared, every recallEvery frames.
	recallTail, recallWindow = 100 * time.Millisecond, 80 * time.Millisecond
	recallEvery              = 4
	// recallOff is by how much the echo may come earlier or later than before: about the
	// precision of repositioned playback.
	recallOff = 2 * time.Millisecond
	// provenLeft is the largest residual of a known echo, in power: 10 dB less. provenFades is
	// the smoothing of both powers per frame, over a third of a second, and provenFrames how
	// often the filter is checked.
	provenLeft   = 0.1
	provenFades  = 0.97
	provenFrames = 100
	// recallHeard is the power below which sound is not evaluated, -65 dB.
	recallHeard = 3e-7
	// minExplained is the share of the sound that the stored room must explain, and minImprovement by how
	// much more the filter must leave than the stored room would: 3 dB. For people who speak in
	// a room without echo, a share of 0.2 or more is rare.
	minExplained, minImprovement = 0.5, 2
	// certainShare is the share that cannot be chance; with less, two looks in a row must agree.
	certainShare = 0.8
	// recoveryFrames is for how many frames after that the filter must meet a stricter limit: to
	// leave about as little as the stored room would.
	recoveryFrames, recoveryRatio = 150, 1.25
)

// roomEcho stores the room's response when the filter last cancelled its echo, and recognises the
// echo by it when the filter no longer does: when a loudspeaker is turned down, the filter
// forgets the room within seconds, and when it is turned up, the echo exceeds what the filter
// removes. The loudness of the echo does not matter.
type roomEcho struct {
	tail, window, off   int
	transform           *fourier.Transform
	response            []complex128 // transformed; nil: the filter never knew the room
	heard, played, left []float32    // the newest
	x                   []complex128
	was, now            float64 // powers of the microphone and of the residual
	frames              int
	recovering          int  // frames
	suspected           bool // by the last look
}

func newRoomEcho(rateHz int) *roomEcho {
	samples := func(t time.Duration) int { return int(t * time.Duration(rateHz) / time.Second) }
	r := &roomEcho{tail: samples(recallTail), window: samples(recallWindow), off: samples(recallOff)}
	n := 1
	for n < r.tail+r.window+2*r.off+1 {
		n *= 2
	}
	r.transform, r.x = fourier.New(n), make([]complex128, n)
	return r
}

// frame takes the sound of a frame, its playback and its residual. It reports whether the
// residual has an echo that the stored room explains. response returns the one that the filter
// has now.
func (r *roomEcho) frame(heard, played, left []float32, response func() []float32) (lost bool) {
	r.heard = latest(r.heard, heard, r.window+1+r.off)
	r.left = latest(r.left, left, r.window+1+r.off)
	r.played = latest(r.played, played, r.transform.Len())
	if meanPower(played) > playedLeast {
		r.was = r.was*provenFades + meanPower(heard)
		r.now = r.now*provenFades + meanPower(left)
	}
	r.frames++
	r.recovering = max(0, r.recovering-1)
	if r.frames%provenFrames == 0 && r.proven() {
		r.learn(response())
	}
	return r.frames%recallEvery == 0 && r.response != nil && len(r.heard) == r.window+1+r.off && r.lost()
}

// known reports whether the filter ever knew the room.
func (r *roomEcho) known() bool { return r.response != nil }

// proven reports whether the filter cancels the present echo.
func (r *roomEcho) proven() bool {
	return r.was*(1-provenFades) > recallHeard && r.now < r.was*provenLeft
}

// latest appends next to a sound and returns its newest n samples.
func latest(stored, next []float32, n int) []float32 {
	stored = append(stored, next...)
	if extra := len(stored) - n; extra > 0 {
		stored = stored[:copy(stored, stored[extra:])]
	}
	return stored
}

// forget discards the room: the filter was reset.
func (r *roomEcho) forget() { r.response, r.was, r.now, r.recovering = nil, 0, 0, 0 }

// learn stores the room's response.
func (r *roomEcho) learn(response []float32) {
	if r.response == nil {
		r.response = make([]complex128, len(r.x))
	}
	clear(r.response)
	for i, v := range response[:min(len(response), r.tail)] {
		r.response[i] = complex(float64(v), 0)
	}
	r.transform.Forward(r.response)
}

// lost reports whether the stored room explains the sound and the filter leaves it.
func (r *roomEcho) lost() bool {
	heard, left := sharpened(r.heard[:r.window+1]), sharpened(r.left[:r.window+1])
	total, rest := sumOfSquares(heard), sumOfSquares(left)
	if total < recallHeard*float64(len(heard)) || rest < total*provenLeft {
		return false
	}
	echo := sharpened(r.echo())
	var explained float64 // of total
	for from := range 2*r.off + 1 {
		part := echo[from : from+r.window]
		var like float64
		for i, v := range part {
			like += v * heard[i]
		}
		if energy := sumOfSquares(part); energy > 0 {
			explained = max(explained, like*like/energy)
		}
	}
	worse := rest / (total - explained + 1e-12)
	if explained < total*minExplained || r.recovering == 0 && worse < minImprovement || worse < recoveryRatio {
		r.suspected = false
		return false
	}
	if worse >= minImprovement {
		known := r.suspected || r.recovering > 0 || explained >= total*certainShare
		if r.suspected = !known; !known {
			return false
		}
		r.recovering = recoveryFrames
	}
	return true
}

// echo returns the playback as the stored room reflects it, beginning at the earliest possible
// delay.
func (r *roomEcho) echo() []float32 {
	clear(r.x)
	for i, v := range r.played {
		r.x[len(r.x)-len(r.played)+i] = complex(float64(v), 0)
	}
	r.transform.Forward(r.x)
	for i, v := range r.response {
		r.x[i] *= v
	}
	r.transform.Back(r.x)
	out := make([]float32, r.window+1+2*r.off)
	for i := range out {
		out[i] = float32(real(r.x[len(r.x)-len(out)+i]))
	}
	return out
}

// sharpened returns pcm with pre-emphasis, so that a voice's pitch does not dominate; it is one
// sample shorter.
func sharpened(pcm []float32) []float64 {
	out := make([]float64, len(pcm)-1)
	for i := range out {
		out[i] = float64(pcm[i+1]) - bright*float64(pcm[i])
	}
	return out
}

func sumOfSquares(values []float64) (sum float64) {
	for _, v := range values {
		sum += v * v
	}
	return sum
}
