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
	// echoLags is how many hops an echo may be late after it left the line: 1.2 s
	// for the client's buffer, the network and the room. On a machine that was too
	// busy to take the user's sound in time it seemed up to 1 s late.
	echoLags = 75
	// echoDecay is what is left after a hop of the energy of a sound in a room: it
	// fades by 60 dB in 0.3 s. With a second, larger room to choose from, large
	// rooms were not known better, and people in headsets worse.
	echoDecay = 0.5
	// echoAlike is the likeness from which the one is the echo of the other. Of
	// echoes 95 frames in 100 have 0.82 and more (0.76 in a large room), of
	// people who speak at the same time one in 100 has 0.54, and 0.73 in the
	// first second if they begin together.
	echoAlike = 0.76
	// echoDoubt is the probability of voice from which it is worth to ask.
	echoDoubt = 0.1
)

// echo knows the assistant's voice where it comes back in what the user's line
// brings. It compares how loud both are in some bands, hop by hop: that costs a
// hundredth of a core, and nothing while the assistant is silent. The sound
// itself is left as it is. Of the goroutine that runs the ear; only playing is
// shared.
type echo struct {
	playback playback

	active bool
	last   int64   // the hop that was heard last, in 16 ms of the chat
	heard  []bands // the newest hops, as they came
	in     analysis
	lag    int // at which an echo was known last, in hops
}

// bands are the energies of a hop in some bands of speech.
type bands [len(bandEdges) - 1]float32

// bandEdges are where the bands of a telephone's voice meet, in Hz.
var bandEdges = [...]float64{150, 300, 450, 650, 900, 1200, 1600, 2100, 2700, 3300, 3900}

// hear takes a frame that ends at a time of the chat.
func (e *echo) hear(end time.Duration, frame []float32) {
	if !e.playback.near(end) {
		e.active = false
		return
	}
	last := int64(end / echoHopTime)
	if !e.active || last-e.last > echoWindow { // what was heard before that is long past
		e.active = true
		e.heard = e.heard[:0]
		e.in = analysis{}
	}
	// A network that held sound back makes the time of the newest frames jump, and
	// creep back: only what was heard last is sure to go on with this.
	e.last = last
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

// isEcho reports whether the frame that was taken last is the assistant's own
// voice, and nobody else's.
func (e *echo) isEcho() bool {
	if !e.active || len(e.heard) < echoLeast {
		return false
	}
	alike, lag := likeness(e.heard, e.playback.until(e.last, len(e.heard)+echoLags), e.lag)
	if alike < echoAlike {
		return false
	}
	e.lag = lag
	return true
}

// echoFilter is a voice detector that finds no voice in an echo.
type echoFilter struct {
	engine.VoiceStream
	echo *echo
}

// Echoes reports whether the assistant may be heard in the sound: a segmenter does
// not raise it then.
func (u echoFilter) Echoes() bool { return u.echo.active }

func (u echoFilter) Probability(frame []float32) (float32, error) {
	p, err := u.VoiceStream.Probability(frame)
	if p > echoDoubt && u.echo.isEcho() {
		p = 0
	}
	return p, err
}

// likeness is how well what was heard is explained by what was played, both up
// to now, at the lag at which they are most alike, and that lag; 1 is an echo and
// nothing else. It begins at the lag expected, for most echoes come as the frame
// before, and is content with the first that is alike enough.
func likeness(heard, played []bands, expected int) (best float64, at int) {
	x := loudness(heard, floor(heard), 0)
	y := loudness(played, bands{}, echoDecay)
	mean, spread := moments(x)
	n := 0 // bands in which there is something to hear
	top := slices.Max(spread[:])
	for b, s := range spread {
		if s < top/5 {
			spread[b] = 0
		} else {
			n++
		}
	}
	if n < echoLeastBands {
		return 0, 0
	}
	shape := normal(x, mean, spread, n)
	for i := range echoLags + 1 {
		lag := (expected + i) % (echoLags + 1)
		from := len(y) - len(x) - lag // of y, for the first of x
		part := y[from : from+len(x)]
		mean, s := moments(part)
		for b := range s {
			if spread[b] == 0 {
				s[b] = 0
			}
		}
		if alike := shape.alike(normal(part, mean, s, n)); alike > best {
			best, at = alike, lag
		}
		if best >= echoAlike {
			break
		}
	}
	return best, at
}

// echoLeastBands is how many bands must have something to hear: a tone is like
// any other.
const echoLeastBands = 4

// moments are the mean and the standard deviation of each band.
func moments(hops []bands) (mean, spread bands) {
	n := float32(len(hops))
	for _, h := range hops {
		for b, v := range h {
			mean[b] += v / n
		}
	}
	for _, h := range hops {
		for b, v := range h {
			d := v - mean[b]
			spread[b] += d * d / n
		}
	}
	for b, v := range spread {
		spread[b] = float32(math.Sqrt(float64(v)))
	}
	return mean, spread
}

// course is how the loudness of a sound went, in units of how much each band
// moves: all bands together, and each beside the others.
type course struct {
	whole, apart []bands
}

// normal is the course of hops in the n bands whose spread is not 0.
func normal(hops []bands, mean, spread bands, n int) course {
	c := course{slices.Clone(hops), make([]bands, len(hops))}
	for i := range c.whole {
		h := &c.whole[i]
		var together float32
		for b := range h {
			if spread[b] > 0 {
				h[b] = (h[b] - mean[b]) / spread[b]
			} else {
				h[b] = 0
			}
			together += h[b] / float32(n)
		}
		for b := range h {
			if spread[b] > 0 {
				c.apart[i][b] = h[b] - together
			}
		}
	}
	return c
}

// alike is the mean of two correlations: of both sounds as they went, and of
// what each band did beside the others. Two people who begin to speak at the
// same moment are alike in the first, and not in the second.
func (c course) alike(o course) float64 {
	return (correlation(c.whole, o.whole) + correlation(c.apart, o.apart)) / 2
}

// correlation is that of two lists whose means are 0.
func correlation(x, y []bands) float64 {
	var xx, yy, xy float64
	for i := range x {
		for b, u := range x[i] {
			v := y[i][b]
			xx, yy, xy = xx+float64(u*u), yy+float64(v*v), xy+float64(u*v)
		}
	}
	if xx == 0 || yy == 0 {
		return 0
	}
	return xy / math.Sqrt(xx*yy)
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

// floor is the noise in what was heard: four times its quietest hop in each band,
// for hops of noise differ by as much.
func floor(hops []bands) bands {
	least := hops[0]
	for _, h := range hops {
		for b, e := range h {
			least[b] = min(least[b], e)
		}
	}
	for b := range least {
		least[b] *= 4
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
