package clean

import (
	"time"

	"parley/appliance/audio/fourier"
)

const (
	// recallTail is how much of a room's response is kept, and recallWindow over how
	// much sound it is held against what is heard, every recallEvery frames.
	recallTail, recallWindow = 100 * time.Millisecond, 80 * time.Millisecond
	recallEvery              = 4
	// recallOff is by how much the echo may come earlier or later than it did: what was
	// played is placed to about that where it had to be placed anew.
	recallOff = 2 * time.Millisecond
	// provenLeft is what the filter leaves, at most, of an echo that it knows, in power:
	// 10 dB less. provenFades is what is left of both powers after a frame, over a third
	// of a second, and provenFrames how often the filter is looked at so.
	provenLeft   = 0.1
	provenFades  = 0.97
	provenFrames = 100
	// recallHeard is the power below which what is heard says nothing, -65 dB.
	recallHeard = 3e-7
	// explains is which share of what is heard the room as it was has to explain, and
	// better by how much more the filter has to leave than that would: 3 dB. Of people
	// who speak in a room without an echo a share of 0.2 and more is rare.
	explains, better = 0.5, 2
	// surely is the share that is no chance; of less two looks in a row have to say so.
	surely = 0.8
	// recovers is for how many frames after that a filter is asked for more: to leave
	// about as little as the room as it was would.
	recovers, recovered = 150, 1.25
)

// recall keeps how the room answered when the filter last took out its echo, and knows
// the echo by that where the filter does not any more: a loudspeaker that was turned
// down has it forget the room within seconds, and one that is turned up makes the echo
// louder than it takes out. How loud the echo is makes no difference here.
type recall struct {
	tail, window, off   int
	transform           *fourier.Transform
	response            []complex128 // transformed; nil: the filter has never known the room
	heard, played, left []float32    // the newest
	x                   []complex128
	was, now            float64 // powers, of what was heard and of what the filter left
	frames              int
	recovering          int  // frames
	suspected           bool // by the look before
}

func newRecall(rateHz int) *recall {
	samples := func(t time.Duration) int { return int(t * time.Duration(rateHz) / time.Second) }
	r := &recall{tail: samples(recallTail), window: samples(recallWindow), off: samples(recallOff)}
	n := 1
	for n < r.tail+r.window+2*r.off+1 {
		n *= 2
	}
	r.transform, r.x = fourier.New(n), make([]complex128, n)
	return r
}

// frame takes what was heard and played in a frame, and what the filter left of the
// one, and reports whether it leaves an echo that the room as it was explains. room
// gives that as the filter knows it now.
func (r *recall) frame(heard, played, left []float32, room func() []float32) (lost bool) {
	r.heard = latest(r.heard, heard, r.window+1+r.off)
	r.left = latest(r.left, left, r.window+1+r.off)
	r.played = latest(r.played, played, r.transform.Len())
	if mean(played) > playedLeast {
		r.was = r.was*provenFades + mean(heard)
		r.now = r.now*provenFades + mean(left)
	}
	r.frames++
	r.recovering = max(0, r.recovering-1)
	if r.frames%provenFrames == 0 && r.proven() {
		r.learn(room())
	}
	return r.frames%recallEvery == 0 && r.response != nil && len(r.heard) == r.window+1+r.off && r.lost()
}

// known tells whether the filter has ever known the room.
func (r *recall) known() bool { return r.response != nil }

// proven tells whether the filter takes out the echo that there is now.
func (r *recall) proven() bool {
	return r.was*(1-provenFades) > recallHeard && r.now < r.was*provenLeft
}

// latest is the newest n of some sound and what comes behind it.
func latest(kept, next []float32, n int) []float32 {
	kept = append(kept, next...)
	if extra := len(kept) - n; extra > 0 {
		kept = kept[:copy(kept, kept[extra:])]
	}
	return kept
}

// forget lets go of the room: the filter begins anew.
func (r *recall) forget() { r.response, r.was, r.now, r.recovering = nil, 0, 0, 0 }

// learn takes the room's response.
func (r *recall) learn(response []float32) {
	if r.response == nil {
		r.response = make([]complex128, len(r.x))
	}
	clear(r.response)
	for i, v := range response[:min(len(response), r.tail)] {
		r.response[i] = complex(float64(v), 0)
	}
	r.transform.Forward(r.response)
}

// lost tells whether the room as it was explains what is heard, and the filter leaves it.
func (r *recall) lost() bool {
	heard, left := sharp(r.heard[:r.window+1]), sharp(r.left[:r.window+1])
	total, rest := square(heard), square(left)
	if total < recallHeard*float64(len(heard)) || rest < total*provenLeft {
		return false
	}
	echo := sharp(r.echo())
	var explained float64 // of total
	for from := range 2*r.off + 1 {
		part := echo[from : from+r.window]
		var like float64
		for i, v := range part {
			like += v * heard[i]
		}
		if own := square(part); own > 0 {
			explained = max(explained, like*like/own)
		}
	}
	worse := rest / (total - explained + 1e-12)
	if explained < total*explains || r.recovering == 0 && worse < better || worse < recovered {
		r.suspected = false
		return false
	}
	if worse >= better {
		known := r.suspected || r.recovering > 0 || explained >= total*surely
		if r.suspected = !known; !known {
			return false
		}
		r.recovering = recovers
	}
	return true
}

// echo is what was played as the room made it be heard, from as much earlier as it may
// have come on.
func (r *recall) echo() []float32 {
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

// sharp has what is high beside what is low as loud as that, about, so that a voice's
// pitch is not all that counts; the first sample is gone.
func sharp(pcm []float32) []float64 {
	out := make([]float64, len(pcm)-1)
	for i := range out {
		out[i] = float64(pcm[i+1]) - bright*float64(pcm[i])
	}
	return out
}

func square(of []float64) (sum float64) {
	for _, v := range of {
		sum += v * v
	}
	return sum
}
