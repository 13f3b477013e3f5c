package audio

import "math"

// Sound in place of lost packets, in the manner of ITU-T G.711, appendix I: the newest period of
// the voice is repeated, ever more quietly, and the sound after the loss is blended in. Unlike
// the appendix, nothing is held back to blend the beginning of the repetition: it begins at the
// level at which the sound broke off instead.
const (
	// shortestPeriod and longestPeriod bound the period, in ms: voices of 66 to 200 Hz. Of a
	// higher voice several periods are one, and a hiss does not become a tone.
	shortestPeriod, longestPeriod = 5, 15
	// periodMatch is how much of the sound, in ms, is compared with the sound a period before.
	periodMatch = 20
	// concealLevel is how long a loss is filled at full level, and concealEnd is when its sound
	// has faded out, in ms. The voice has changed by then, and a longer repetition is a buzz.
	concealLevel, concealEnd = 20, 100
	// concealBlend is the longest blending into the sound after a loss, in ms, a quarter of the
	// loss otherwise.
	concealBlend = 10
)

// concealer keeps the newest sound of a stream, and continues it where it is lost.
type concealer struct {
	ms    int       // samples in a millisecond
	past  []float32 // the newest sound, as long as the longest period and what is matched with it
	cycle []float32 // what is repeated; empty unless sound is lost
	at    int       // position in cycle
	step  float32   // from the first sample of cycle to the sample that would have continued
	gone  int       // samples since the newest sound
}

func newConcealer(rateHz int) *concealer {
	ms := rateHz / 1000
	return &concealer{ms: ms, past: make([]float32, (2*longestPeriod+periodMatch)*ms)}
}

// heard takes the next sound of the stream, and blends its beginning with the sound in place of
// a loss before it.
func (c *concealer) heard(pcm []float32) {
	if len(c.cycle) > 0 {
		n := min(c.gone/4, concealBlend*c.ms, len(pcm))
		for i := range n {
			pcm[i] += (c.next() - pcm[i]) * (1 - float32(i+1)/float32(n+1))
		}
		c.cycle, c.gone = c.cycle[:0], 0
	}
	c.keep(pcm)
}

func (c *concealer) keep(pcm []float32) {
	if n := len(c.past); len(pcm) >= n {
		copy(c.past, pcm[len(pcm)-n:])
	} else {
		copy(c.past, c.past[len(pcm):])
		copy(c.past[n-len(pcm):], pcm)
	}
}

// lost appends n samples in place of lost ones.
func (c *concealer) lost(dst []float32, n int) []float32 {
	if len(c.cycle) == 0 {
		c.begin()
	}
	for range n {
		dst = append(dst, c.next())
	}
	c.keep(dst[len(dst)-n:])
	return dst
}

// begin makes the cycle of the newest period: its last quarter becomes what came before its
// beginning, so that it can be repeated.
func (c *concealer) begin() {
	p, n := c.period(), len(c.past)
	c.cycle = append(c.cycle[:0], c.past[n-p:]...)
	for i, q := 0, p/4; i < q; i++ {
		at := p - q + i
		c.cycle[at] += (c.past[n-2*p+at] - c.cycle[at]) * float32(i+1) / float32(q)
	}
	c.at, c.gone = 0, 0
	c.step = c.past[n-1] - c.past[n-1-p]
}

// next returns the next sample in place of a lost one.
func (c *concealer) next() float32 {
	x := c.cycle[c.at]
	if c.at++; c.at == len(c.cycle) {
		c.at = 0
	}
	if blend := len(c.cycle) / 4; c.gone < blend {
		x += c.step * (1 - float32(c.gone+1)/float32(blend+1))
	}
	full, end := concealLevel*c.ms, concealEnd*c.ms
	if c.gone > full {
		x *= max(0, float32(end-c.gone)/float32(end-full))
	}
	c.gone++
	return bounded(x)
}

// period returns the lag at which the newest sound resembles the sound before it most, by the
// normalised cross-correlation.
func (c *concealer) period() (best int) {
	match := periodMatch * c.ms
	newest := c.past[len(c.past)-match:]
	most := math.Inf(-1)
	for lag := longestPeriod * c.ms; lag >= shortestPeriod*c.ms; lag-- {
		before := c.past[len(c.past)-match-lag:][:match]
		var cross, energy float64
		for i, x := range newest {
			cross += float64(x * before[i])
			energy += float64(before[i] * before[i])
		}
		if r := cross / math.Sqrt(energy+1e-9); r >= most {
			best, most = lag, r
		}
	}
	return best
}
