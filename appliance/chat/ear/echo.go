package ear

import (
	"math"
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// echoHop is the step of the comparison between heard and played sound, 16 ms; echoHopTime is the same as
	// a duration.
	echoHop     = engine.FrameSamples / 2
	echoHopTime = engine.FrameDuration / 2
	// echoWindow is how many hops are compared, three quarters of a second, and echoLeast how many there must
	// be, a fifth of a second. A longer window recognises an echo more surely; a shorter one notices sooner
	// that someone speaks over it.
	echoWindow = 46
	echoLeast  = 12
	// echoLags is how many hops after leaving the line an echo may come: 1.2 s for the client's buffer, the
	// network and the room. On a machine too busy to take the user's sound in time it appeared up to 1 s
	// late.
	echoLags = 75
	// echoDecay is the share of a sound's energy left after a hop in a room where it fades by 60 dB in 0.3 s.
	// Trying a second, larger room recognised no more echoes in large rooms, and fewer people in headsets.
	echoDecay = 0.5
	// echoAlike is the likeness from which a sound is an echo of the other. 95 of 100 frames of echoes have
	// 0.82 or more (0.76 in a large room). Of people who speak at the same time, one frame in 100 has 0.54,
	// and 0.73 in the first second if they begin together.
	echoAlike = 0.76
	// echoDoubt is the probability of voice from which the comparison is worth while.
	echoDoubt = 0.1
)

// echo recognises the assistant's voice in the user's sound. It compares the loudness of both in several
// bands, hop by hop, which costs a hundredth of a core, and nothing while the assistant is silent. It does
// not change the sound. The ear's goroutine owns it; only playback is shared.
type echo struct {
	playback playback

	active bool
	last   int64   // number of the newest hop heard, in 16 ms of the chat
	heard  []bands // the newest hops, in order
	in     analysis
	lag    int // of the newest known echo, in hops
}

// bands holds the energy of a hop in each band.
type bands [len(bandEdges) - 1]float32

// bandEdges are the limits of the bands, in Hz, within telephone bandwidth.
var bandEdges = [...]float64{150, 300, 450, 650, 900, 1200, 1600, 2100, 2700, 3300, 3900}

// hear takes a frame that ends at a time of the chat.
func (e *echo) hear(end time.Duration, frame []float32) {
	if !e.playback.near(end) {
		e.active = false
		return
	}
	last := int64(end / echoHopTime)
	if !e.active || last-e.last > echoWindow { // everything heard before is too old
		e.active = true
		e.heard = e.heard[:0]
		e.in = analysis{}
	}
	// After a network held sound back, the time of the newest frames jumps and creeps back. Only the newest
	// hop is certain to continue here.
	e.last = last
	for i := 0; i+echoHop <= len(frame); i += echoHop {
		e.heard = append(newest(e.heard, echoWindow), e.in.hop(frame[i:i+echoHop]))
	}
}

// newest makes space for one more hop, so that there are at most n.
func newest(hops []bands, n int) []bands {
	if len(hops) < n {
		return hops
	}
	return append(hops[:0], hops[len(hops)-n+1:]...)
}

// isEcho reports whether the newest frame is the assistant's own voice and no one else's.
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

// Echoes reports whether the assistant may be audible in the sound. The segmenter does not amplify it then.
func (e echoFilter) Echoes() bool { return e.echo.active }

func (e echoFilter) Probability(frame []float32) (float32, error) {
	p, err := e.VoiceStream.Probability(frame)
	if p > echoDoubt && e.echo.isEcho() {
		p = 0
	}
	return p, err
}

// likeness returns how well the heard sound is explained by the played sound, at the most likely lag, and
// that lag. 1 is an echo and nothing else. It starts at the expected lag, because most echoes come like the
// one before, and stops at the first lag that is good enough.
func likeness(heard, played []bands, expected int) (best float64, at int) {
	x := loudness(heard, floor(heard), 0)
	y := loudness(played, bands{}, echoDecay)
	mean, spread := moments(x)
	n := 0 // bands with something to hear
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
		from := len(y) - len(x) - lag // index in y of the hop for x[0]
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

// echoLeastBands is how many bands must have something to hear: a single tone resembles any other.
const echoLeastBands = 4

// moments returns the mean and the standard deviation of each band.
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

// course is a sound's loudness over time, normalised by each band's deviation: whole for the sound, apart for
// each band minus the mean of all bands.
type course struct {
	whole, apart []bands
}

// normal returns the course of hops in the n bands whose spread is not 0.
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

// alike returns the mean of the correlations of whole and of apart. Two people who begin to speak at the same
// moment are alike in the first, but not in the second.
func (c course) alike(o course) float64 {
	return (correlation(c.whole, o.whole) + correlation(c.apart, o.apart)) / 2
}

// correlation returns the correlation of two lists whose means are 0.
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

// loudness returns the fourth root of the energy above the noise, which is roughly the perceived loudness.
// The share on of each hop continues in the next.
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

// floor returns the noise in the heard sound: four times the quietest hop of each band, because hops of noise
// differ by as much.
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

// analysis splits sound into bands with one resonator each.
type analysis struct {
	state [len(bands{})][2]float32
}

// resonator returns the coefficients of a band-pass filter (the form with a peak gain of 1 in the Audio EQ
// Cookbook): b0, a1 and a2; b1 is 0 and b2 is -b0.
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
			if !(x > -4 && x < 4) { // NaN and infinity would stay in the filter
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
