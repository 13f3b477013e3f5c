package audio

import (
	"fmt"
)

// MaxResampleHz is the highest rate of a Resampler on either side: twice the highest rate of
// sound cards.
const MaxResampleHz = 384000

// maxStep is the largest reduction of the rate by one stage of a Resampler. Its filter has
// kernelLobes × maxStep samples, so this bounds the memory; larger steps take several stages.
const maxStep = 48

// Resampler changes the sample rate of one stream of audio: a polyphase windowed-sinc filter,
// flat to 0.91 of half the lower rate and at least 80 dB down from that half on. Sample k of
// the output is at the time of k × from/to of the input; there is no delay, and there is
// silence before and after the stream. The output does not depend on the sizes of the input
// pieces. One goroutine uses it, and it allocates nothing once its buffers have grown.
type Resampler struct {
	from, to int64
	stages   []*stage
	scratch  [2][]float32
}

// NewResampler returns a Resampler between two rates in Hz, each 1 to MaxResampleHz.
func NewResampler(fromHz, toHz int) (*Resampler, error) {
	for _, r := range [...]struct {
		name string
		hz   int
	}{{"input", fromHz}, {"output", toHz}} {
		if r.hz < 1 || r.hz > MaxResampleHz {
			return nil, fmt.Errorf("resample: %s rate is %d Hz; allowed are 1 to %d Hz", r.name, r.hz, MaxResampleHz)
		}
	}
	r := &Resampler{from: int64(fromHz), to: int64(toHz)}
	for at := fromHz; at != toHz; {
		next := toHz
		if at > maxStep*toHz {
			next = (at + maxStep - 1) / maxStep
		}
		r.stages = append(r.stages, newStage(at, next))
		at = next
	}
	return r, nil
}

// Process appends the output of in to dst, and returns dst. Samples whose filter extends beyond
// in come with later calls or with Flush.
func (r *Resampler) Process(dst, in []float32) []float32 {
	if len(r.stages) == 0 {
		return append(dst, in...)
	}
	last := len(r.stages) - 1
	for i, s := range r.stages[:last] {
		r.scratch[i%2] = s.process(r.scratch[i%2][:0], in)
		in = r.scratch[i%2]
	}
	return r.stages[last].process(dst, in)
}

// Flush appends the rest of the stream to dst: n samples of input give n × to/from of output in
// total, rounded. The Resampler is ready for another stream.
func (r *Resampler) Flush(dst []float32) []float32 {
	if len(r.stages) == 0 {
		return dst
	}
	want := resampledLen(r.stages[0].received, r.from, r.to)
	last := len(r.stages) - 1
	for i, s := range r.stages[:last] {
		n := resampledLen(s.received, s.from, s.to)
		r.scratch[i%2] = s.finish(r.scratch[i%2][:0], n)
		dst = r.forward(dst, i+1, r.scratch[i%2])
	}
	return r.stages[last].finish(dst, want)
}

// forward passes in through the stages from first on, appending the output. The buffers of
// earlier stages are free by then.
func (r *Resampler) forward(dst []float32, first int, in []float32) []float32 {
	last := len(r.stages) - 1
	for i := first; i < last; i++ {
		r.scratch[i%2] = r.stages[i].process(r.scratch[i%2][:0], in)
		in = r.scratch[i%2]
	}
	return r.stages[last].process(dst, in)
}

// Resample returns pcm, which is at fromHz, at toHz: len(pcm) × toHz/fromHz samples, rounded,
// aligned with the input, the same as from a Resampler. Equal rates give a copy. It returns nil
// if a rate is outside 1 to MaxResampleHz.
func Resample(pcm []float32, fromHz, toHz int) []float32 {
	r, err := NewResampler(fromHz, toHz)
	if err != nil {
		return nil
	}
	out := make([]float32, 0, resampledLen(int64(len(pcm)), r.from, r.to))
	for len(pcm) > 0 { // in pieces, so that the filter's buffer stays small
		n := min(len(pcm), 1<<14)
		out = r.Process(out, pcm[:n])
		pcm = pcm[n:]
	}
	return r.Flush(out)
}

func resampledLen(n, from, to int64) int64 {
	return (2*n*to + from) / (2 * from)
}

// stage is one polyphase filter. Output k is at input position k×M/L, represented by an integer
// part (base, in history) and a phase of L.
type stage struct {
	from, to int64
	kernel   *kernel
	whole    int // input samples from one output to the next, integer part
	part     int // the fraction, in 1/L
	l        int

	history  []float32 // input that the filter still needs
	base     int       // index in history of the first sample under the next output's filter
	phase    int
	received int64 // input samples so far
	sent     int64 // output samples so far
}

func newStage(from, to int) *stage {
	g := gcd(from, to)
	l, m := to/g, from/g
	s := &stage{
		from:   int64(from),
		to:     int64(to),
		kernel: newKernel(l, m),
		whole:  m / l,
		part:   m % l,
		l:      l,
	}
	s.reset()
	return s
}

// reset puts silence before the stream, for the first output's filter.
func (s *stage) reset() {
	s.history = append(s.history[:0], make([]float32, s.kernel.taps/2-1)...)
	s.base, s.phase = 0, 0
	s.received, s.sent = 0, 0
}

func (s *stage) process(dst, in []float32) []float32 {
	s.received += int64(len(in))
	s.history = append(s.history, in...)
	return s.emit(dst, -1)
}

// finish appends outputs up to want in total, with silence after the input, and resets.
func (s *stage) finish(dst []float32, want int64) []float32 {
	s.history = append(s.history, make([]float32, s.kernel.taps)...)
	dst = s.emit(dst, want-s.sent)
	s.reset()
	return dst
}

// emit appends the outputs whose filters are completely in history, at most limit of them
// unless limit is negative, and drops history that is no longer needed.
func (s *stage) emit(dst []float32, limit int64) []float32 {
	taps := s.kernel.taps
	if s.kernel.exact {
		n := int64(s.ready())
		if limit >= 0 {
			n = min(n, limit)
		}
		dst = s.exactly(dst, int(n))
		limit = 0
	}
	for limit != 0 && s.base+taps <= len(s.history) {
		dst = append(dst, s.kernel.at(s.history[s.base:s.base+taps], s.phase, s.l))
		s.base += s.whole
		s.phase += s.part
		if s.phase >= s.l {
			s.phase -= s.l
			s.base++
		}
		s.sent++
		limit--
	}
	if s.base > 0 { // base may be beyond the end when the rate is reduced
		n := copy(s.history, s.history[min(s.base, len(s.history)):])
		s.base -= len(s.history) - n
		s.history = s.history[:n]
	}
	return dst
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Converter resamples sound of changing rates. It caches its filter, whose design takes a
// millisecond, while the rates stay the same. The zero Converter is ready to use.
type Converter struct {
	fromHz, toHz int
	resampler    *Resampler
}

// Between returns a Resampler from one rate to another.
func (c *Converter) Between(fromHz, toHz int) (*Resampler, error) {
	if c.resampler == nil || c.fromHz != fromHz || c.toHz != toHz {
		r, err := NewResampler(fromHz, toHz)
		if err != nil {
			return nil, err
		}
		c.fromHz, c.toHz, c.resampler = fromHz, toHz, r
	}
	return c.resampler, nil
}
