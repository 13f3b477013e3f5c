package audio

import "math"

// limiterAhead is the lookahead of a Limiter: the gain is reduced within that time, which is
// slow enough not to click.
const limiterAhead = 5 // ms

// Limiter reduces the gain of a stream before it exceeds ±ceiling, also between its samples
// (where a higher rate or a sound card reaches), and restores the gain slowly. Otherwise the
// stream is unchanged. It holds back the last 5 ms until the end.
type Limiter struct {
	ceiling float32
	ahead   int
	back    float32 // recovery of the gain per sample: half in 80 ms
	held    []float32
	needs   []float32 // the gain that each sample of held needs
	gain    float32
	parts   [limiterPhases - 1][limiterTaps]float32
	loud    int // how many of the next samples follow a loud one by less than limiterTaps
}

// NewLimiter returns a Limiter at a rate.
func NewLimiter(rateHz int, ceiling float32) *Limiter {
	return &Limiter{
		ceiling: ceiling,
		ahead:   max(rateHz*limiterAhead/1000, limiterTaps),
		gain:    1,
		parts:   betweens(),
		back:    float32(math.Pow(0.5, 1/(0.08*float64(rateHz)))),
	}
}

const (
	// limiterTaps is how many samples are used to interpolate between the two in their middle:
	// the hiss of a voice, at 0.9 of half its rate, is then found within 1 %.
	limiterTaps = 24
	// limiterPhases is the oversampling, as ITU-R BS.1770-5 has it for rates of 48 kHz; the
	// true peak is at most 0.7 dB higher.
	limiterPhases = 4
	// limiterOver is the largest ratio of an interpolated value to its samples; samples below
	// ceiling/limiterOver need no interpolation. It is the sum of the absolute filter taps, and
	// a little more.
	limiterOver = 2.6
)

// betweens returns the filter taps for the values between the two middle samples: a sinc in a
// Hann window.
func betweens() (parts [limiterPhases - 1][limiterTaps]float32) {
	for p := range parts {
		at := limiterTaps/2 - 1 + float64(p+1)/limiterPhases
		for i := range parts[p] {
			x := math.Pi * (float64(i) - at)
			parts[p][i] = float32(math.Sin(x) / x * (0.5 + 0.5*math.Cos(x/(limiterTaps/2))))
		}
	}
	return parts
}

// between returns the largest absolute value between the two middle samples of pcm, which has
// limiterTaps samples.
func (l *Limiter) between(pcm []float32) (peak float32) {
	for p := range l.parts {
		var x float32
		for i, part := range l.parts[p] {
			x += part * pcm[i]
		}
		peak = max(peak, x, -x)
	}
	return peak
}

// lower reduces the gain at a position; the gain before it falls linearly to that.
func (l *Limiter) lower(at int, need float32) {
	for n := need; at >= 0 && n < l.needs[at]; at-- {
		l.needs[at] = n
		n += (1 - need) / float32(l.ahead)
	}
}

// Process appends the finished part of the stream to dst; at its end, all of it.
func (l *Limiter) Process(dst, pcm []float32, end bool) []float32 {
	for _, x := range pcm {
		need, a := float32(1), max(x, -x)
		if a > l.ceiling {
			need = l.ceiling / a
		}
		l.held, l.needs = append(l.held, x), append(l.needs, 1)
		n := len(l.held)
		l.lower(n-1, need)
		if l.loud--; a*limiterOver > l.ceiling {
			l.loud = limiterTaps
		}
		if l.loud > 0 && n >= limiterTaps {
			if a := l.between(l.held[n-limiterTaps:]); a > l.ceiling {
				l.lower(n-limiterTaps/2, l.ceiling/a)
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
