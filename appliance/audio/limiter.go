package audio

import "math"

// limiterAhead is how far a Limiter looks ahead: it turns down within that time,
// which is too slow to click.
const limiterAhead = 5 // ms

// A Limiter turns a stream down where it goes beyond ±ceiling, also between its
// samples, where a higher rate or a sound card finds it, before it does, and lets it
// come back slowly. Elsewhere the stream stays as it is. It keeps back
// the last 5 ms until the end.
type Limiter struct {
	ceiling float32
	ahead   int
	back    float32 // by which the gain comes back in a sample: half in 80 ms
	held    []float32
	needs   []float32 // the gain that each of held needs
	gain    float32
}

// NewLimiter returns a Limiter at a rate.
func NewLimiter(rateHz int, ceiling float32) *Limiter {
	return &Limiter{
		ceiling: ceiling, ahead: max(rateHz*limiterAhead/1000, 1), gain: 1,
		back: float32(math.Pow(0.5, 1/(0.08*float64(rateHz)))),
	}
}

// halfway are the parts that samples have in the value halfway between the two in
// their middle: the polynomial through all of them (Lagrange).
var halfway = [...]float32{-5. / 2048, 49. / 2048, -245. / 2048, 1225. / 2048, 1225. / 2048, -245. / 2048, 49. / 2048, -5. / 2048}

func between(pcm []float32) (mid float32) {
	for i, part := range halfway {
		mid += part * pcm[i]
	}
	return mid
}

// lower turns down what is held at a place; all before goes down to it on a straight
// line.
func (l *Limiter) lower(at int, need float32) {
	for n := need; at >= 0 && n < l.needs[at]; at-- {
		l.needs[at] = n
		n += (1 - need) / float32(l.ahead)
	}
}

// Process appends to dst what of the stream is finished; at its end, all.
func (l *Limiter) Process(dst, pcm []float32, end bool) []float32 {
	for _, x := range pcm {
		need := float32(1)
		if a := float32(math.Abs(float64(x))); a > l.ceiling {
			need = l.ceiling / a
		}
		l.held, l.needs = append(l.held, x), append(l.needs, 1)
		l.lower(len(l.needs)-1, need)
		if n := len(l.held); n >= len(halfway) {
			if a := float32(math.Abs(float64(between(l.held[n-len(halfway):])))); a > l.ceiling {
				l.lower(n-len(halfway)/2, l.ceiling/a)
			}
		}
	}
	n := len(l.held) - l.ahead
	if end {
		n = len(l.held)
	}
	for i := range max(n, 0) {
		l.gain = min(1-(1-l.gain)*l.back, l.needs[i])
		dst = append(dst, min(max(l.held[i]*l.gain, -l.ceiling), l.ceiling))
	}
	if n > 0 {
		l.held, l.needs = append(l.held[:0], l.held[n:]...), append(l.needs[:0], l.needs[n:]...)
	}
	return dst
}
