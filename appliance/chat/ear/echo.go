package ear

import (
	"math"
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// echoHop is the step in which what is heard is compared with what is
	// played, 16 ms, and echoHopTime the same as time.
	echoHop     = engine.FrameSamples / 2
	echoHopTime = engine.FrameDuration / 2
	// echoWindow is how many hops are compared, and echoLeast how many there
	// must be: three quarters of a second, and a fifth. The longer, the surer
	// is an echo known; the shorter, the sooner somebody who speaks over it.
	echoWindow = 46
	echoLeast  = 12
	// echoLags is how many hops an echo may be late: 384 ms for the line, the
	// client's buffer, the room, and the way back.
	echoLags = 24
	// echoRoom is what is left after a hop of the energy of a sound in a room: it
	// fades by 60 dB in 0.3 s. With a second, larger room to choose from, large
	// rooms were not known better, and people in headsets worse.
	echoRoom = 0.5
	// echoAlike is the correlation from which the one is the echo of the other.
	// Echoes had 0.85 and more, with and without a room, and people who spoke at
	// the same time 0.7 at most.
	echoAlike = 0.83
	// echoDoubt is the probability of voice from which it is worth to ask.
	echoDoubt = 0.1
)

// echo knows the assistant's voice where it comes back in what the user's line
// brings. It compares how loud both are in some bands, hop by hop: that costs a
// hundredth of a core, and nothing while the assistant is silent. The sound
// itself is left as it is. Of the goroutine that runs the ear; only playing is
// shared.
type echo struct {
	playing playing

	active bool
	next   int64   // the hop of played that comes next, in 16 ms of the chat
	played []bands // the newest hops, as they were played
	heard  []bands // the newest hops, as they came
	in     analysis
}

// bands are the energies of a hop in some bands of speech.
type bands [len(bandEdges) - 1]float32

// bandEdges are where the bands of a telephone's voice meet, in Hz.
var bandEdges = [...]float64{150, 300, 450, 650, 900, 1200, 1600, 2100, 2700, 3300, 3900}

// hear takes a frame that ends at a time of the chat.
func (e *echo) hear(end time.Duration, frame []float32) {
	if !e.playing.near(end) {
		e.active = false
		return
	}
	last := int64(end / echoHopTime)
	if !e.active || last < e.next || last-e.next > echoWindow {
		e.active = true
		e.next = last - 2
		e.played, e.heard = e.played[:0], e.heard[:0]
		e.in = analysis{}
	}
	for ; e.next < last; e.next++ {
		e.played = append(newest(e.played, echoWindow+echoLags), e.playing.at(time.Duration(e.next)*echoHopTime))
	}
	for i := 0; i+echoHop <= len(frame); i += echoHop {
		e.heard = append(newest(e.heard, echoWindow), e.in.hop(frame[i:i+echoHop]))
	}
}

// newest makes room for one more of at most n.
func newest(hops []bands, n int) []bands {
	if len(hops) < n {
		return hops
	}
	return append(hops[:0], hops[len(hops)-n+1:]...)
}

// explains reports whether the frame that was taken last is the assistant's own
// voice, and nobody else's.
func (e *echo) explains() bool {
	return e.active && len(e.heard) >= echoLeast && explained(e.heard, e.played) >= echoAlike
}

// unechoed is a voice detector that finds no voice in an echo.
type unechoed struct {
	engine.VoiceStream
	echo *echo
}

func (u unechoed) Probability(frame []float32) (float32, error) {
	p, err := u.VoiceStream.Probability(frame)
	if p > echoDoubt && u.echo.explains() {
		p = 0
	}
	return p, err
}

// explained is how well what was heard is explained by what was played, both up
// to now: the correlation of their loudness over time, in all bands together, at
// the lag at which they are most alike; 1 is an echo without anything else.
func explained(heard, played []bands) float64 {
	n := len(heard)
	x := loudness(heard, floor(heard), 0)
	y := loudness(played, bands{}, echoRoom)
	best := 0.0
	for lag := range echoLags + 1 {
		best = max(best, alike(x, y, len(y)-n-lag))
	}
	return best
}

// alike is the correlation of x with y from a place on; before its beginning y is
// silence. A band counts as much as it moves in x.
func alike(x, y []bands, from int) float64 {
	n := float64(len(x))
	var common, all float64
	for b := range len(bands{}) {
		var sx, sy, sxx, syy, sxy float64
		for i := range x {
			var v float64
			if at := i + from; at >= 0 && at < len(y) {
				v = float64(y[at][b])
			}
			u := float64(x[i][b])
			sx, sy, sxx, syy, sxy = sx+u, sy+v, sxx+u*u, syy+v*v, sxy+u*v
		}
		vx, vy := sxx-sx*sx/n, syy-sy*sy/n
		all += vx
		if vx > 0 && vy > 0 {
			common += (sxy - sx*sy/n) * math.Sqrt(vx/vy)
		}
	}
	if all == 0 {
		return 0
	}
	return common / all
}

// loudness is the fourth root of energy over the noise, about as it is heard; of
// each hop a share goes on in the next.
func loudness(hops []bands, noise bands, on float32) []bands {
	all := slices.Clone(hops)
	for i := range all {
		for b := range all[i] {
			all[i][b] = max(0, all[i][b]-noise[b])
			if i > 0 {
				all[i][b] += on * all[i-1][b]
			}
		}
	}
	for i := range all {
		for b, e := range all[i] {
			all[i][b] = float32(math.Sqrt(math.Sqrt(float64(e))))
		}
	}
	return all
}

// floor is the noise in what was heard: twice its quietest hop, in each band.
func floor(hops []bands) bands {
	least := hops[0]
	for _, h := range hops {
		for b, e := range h {
			least[b] = min(least[b], e)
		}
	}
	for b := range least {
		least[b] *= 2
	}
	return least
}

// analysis splits sound into bands, by one resonator each.
type analysis struct {
	state [len(bands{})][2]float32
}

// resonator returns the coefficients of a band-pass filter (the form with a peak
// gain of 1 in the Audio EQ Cookbook): b0, a1 and a2; b1 is 0 and b2 is -b0.
func resonator(b int) (b0, a1, a2 float32) {
	low, high := bandEdges[b], bandEdges[b+1]
	middle := math.Sqrt(low * high)
	w := 2 * math.Pi * middle / engine.SpeechRateHz
	alpha := math.Sin(w) * (high - low) / (2 * middle)
	return float32(alpha / (1 + alpha)), float32(-2 * math.Cos(w) / (1 + alpha)), float32((1 - alpha) / (1 + alpha))
}

// hop returns the energies of one hop.
func (a *analysis) hop(pcm []float32) bands {
	var out bands
	for b := range out {
		b0, a1, a2 := resonator(b)
		s1, s2 := a.state[b][0], a.state[b][1]
		var energy float32
		for _, x := range pcm {
			if !(x > -4 && x < 4) { // what is no number would stay in the filter
				x = 0
			}
			y := b0*x + s1
			s1 = s2 - a1*y
			s2 = -b0*x - a2*y
			energy += y * y
		}
		a.state[b] = [2]float32{s1, s2}
		out[b] = energy
	}
	return out
}
