package audio

// The codec of ITU-T G.722 (11/88) at 64 kbit/s, mode 1: 16 kHz are split into two bands of
// 8 kHz, and adaptive differential PCM codes the lower one with 6 bits and the higher one with
// 2. All values are integers, as in the recommendation, so that the output is exactly that of
// any other codec. Names in brackets are those of the recommendation.

// g722Taps is half of the filter that splits and joins the bands (table 11), for the even
// samples; the odd ones have the same values in reverse order.
var g722Taps = [12]int{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}

// g722Filter is the filter's memory, the oldest sample first.
type g722Filter [24]int

// next adds two samples, and returns the sums over the odd and over the even ones.
func (f *g722Filter) next(first, second int) (odd, even int) {
	copy(f[:], f[2:])
	f[22], f[23] = first, second
	for i, h := range g722Taps {
		even += f[2*i] * h
		odd += f[2*i+1] * g722Taps[11-i]
	}
	return odd, even
}

// g722Band is the adaptive predictor and quantiser of a band, which the encoder and the decoder
// run in step.
type g722Band struct {
	logScale int    // of the quantiser [NB]
	step     int    // the quantiser's scale factor [DET]
	guess    int    // prediction of the next sample [S]
	zeros    int    // its part from the past differences [SZ]
	a        [2]int // coefficients of the pole section
	b        [6]int // coefficients of the zero section
	d        [6]int // past differences, quantised, newest first
	r        [2]int // past reconstructed samples
	p        [2]int // past differences plus zeros
}

// Quantiser tables: the decision levels of the lower band [Q6], the levels of its 4-bit and its
// 6-bit inverse quantiser [QM4, QM6], those of the higher band [QM2], and the changes of the
// scale [WL by RL42, WH by RH2, ILB].
var (
	g722Decisions = [30]int{0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858,
		940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919}
	g722Levels4 = [16]int{0, -20456, -12896, -8968, -6288, -4240, -2584, -1200,
		20456, 12896, 8968, 6288, 4240, 2584, 1200, 0}
	g722Levels6 = [64]int{-136, -136, -136, -136, -24808, -21904, -19008, -16704,
		-14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576,
		-3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192,
		10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032,
		1688, 1360, 1040, 728, 432, 136, -432, -136}
	g722LowChange = [16]int{-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60}

	g722Levels2    = [4]int{-7408, -1616, 7408, 1616}
	g722HighChange = [4]int{798, -214, 798, -214}

	g722Scales = [32]int{2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774,
		2834, 2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008}
)

// The limits of logScale, and the exponent of the scale, in the lower and in the higher band.
const (
	g722LowMax, g722LowExponent   = 18432, 8
	g722HighMax, g722HighExponent = 22528, 10
	g722Half                      = 1 << 14 // bound of a band's samples
	g722HighDecision              = 564     // [Q2]
)

// rescale adapts the quantiser.
func (s *g722Band) rescale(change, limit, exponent int) {
	s.logScale = min(max(s.logScale*127>>7+change, 0), limit)
	scale, shift := g722Scales[s.logScale>>6&31], exponent-s.logScale>>11
	if shift < 0 {
		s.step = scale << -shift << 2
	} else {
		s.step = scale >> shift << 2
	}
}

// lower takes the 4 bits of the lower band that adapt it.
func (s *g722Band) lower(code int) {
	d := s.step * g722Levels4[code] >> 15
	s.rescale(g722LowChange[code], g722LowMax, g722LowExponent)
	s.adapt(d)
}

// higher takes the 2 bits of the higher band, and returns its sample.
func (s *g722Band) higher(code int) int {
	d := s.step * g722Levels2[code] >> 15
	out := min(max(d+s.guess, -g722Half), g722Half-1)
	s.rescale(g722HighChange[code], g722HighMax, g722HighExponent)
	s.adapt(d)
	return out
}

// adapt takes a quantised difference, adapts the predictor, and predicts the next sample
// [BLOCK4].
func (s *g722Band) adapt(d int) {
	r, p := saturated(s.guess+d), saturated(s.zeros+d)
	s.adaptPoles(p)
	gain := 128
	if d == 0 {
		gain = 0
	}
	for i, was := range s.d {
		s.b[i] = saturated(agree(d, was, gain) + s.b[i]*32640>>15)
	}
	copy(s.d[1:], s.d[:])
	s.d[0] = d
	s.r[1], s.r[0] = s.r[0], r
	s.p[1], s.p[0] = s.p[0], p
	poles := saturated(s.a[0]*saturated(2*s.r[0])>>15 + s.a[1]*saturated(2*s.r[1])>>15)
	s.zeros = 0
	for i, d := range s.d {
		s.zeros += s.b[i] * saturated(2*d) >> 15
	}
	s.zeros = saturated(s.zeros)
	s.guess = saturated(poles + s.zeros)
}

// adaptPoles adapts the pole section, within the bounds in which it is stable.
func (s *g722Band) adaptPoles(p int) {
	second := agree(p, s.p[1], 128) + min(-agree(p, s.p[0], saturated(4*s.a[0])), 1<<15-1)>>7 + s.a[1]*32512>>15
	s.a[1] = min(max(second, -12288), 12288)
	bound := saturated(15360 - s.a[1])
	s.a[0] = min(max(saturated(agree(p, s.p[0], 192)+s.a[0]*32640>>15), -bound), bound)
}

// agree returns v if a and b have the same sign, or else -v.
func agree(a, b, v int) int {
	if (a < 0) == (b < 0) {
		return v
	}
	return -v
}

func saturated(v int) int { return min(max(v, -1<<15), 1<<15-1) }

// g722Bands are the predictors of both bands.
type g722Bands struct{ low, high g722Band }

func newG722Bands() g722Bands { return g722Bands{low: g722Band{step: 32}, high: g722Band{step: 8}} }

// quantise returns the octet of a sample of each band.
func (s *g722Bands) quantise(low, high int) byte {
	return byte(s.high.quantiseHigh(high)<<6 | s.low.quantiseLow(low))
}

func (s *g722Band) quantiseLow(x int) int {
	d := saturated(x - s.guess)
	size := d
	if d < 0 {
		size = ^d
	}
	n := 1
	for n < len(g722Decisions) && size >= g722Decisions[n]*s.step>>12 {
		n++
	}
	switch {
	case d >= 0:
		return 62 - n // [ILP]
	case n <= 2:
		return 64 - n // [ILN]
	}
	return 34 - n
}

func (s *g722Band) quantiseHigh(x int) int {
	d := saturated(x - s.guess)
	size, code := d, 3
	if d < 0 {
		size, code = ^d, 1
	}
	if size >= g722HighDecision*s.step>>12 {
		code--
	}
	return code
}

// decode returns the sample of each band.
func (s *g722Bands) decode(b byte) (low, high int) {
	code := int(b & 63)
	low = min(max(s.low.guess+s.low.step*g722Levels6[code]>>15, -g722Half), g722Half-1)
	s.low.lower(code >> 2)
	return low, s.high.higher(int(b >> 6))
}

// g722Encoder encodes sound at 16 kHz.
type g722Encoder struct {
	split g722Filter
	bands g722Bands
}

// encode appends the octet of each two samples.
func (e *g722Encoder) encode(dst []byte, pcm []float32) []byte {
	for i := 0; i+1 < len(pcm); i += 2 {
		odd, even := e.split.next(int16Of(pcm[i]), int16Of(pcm[i+1]))
		b := e.bands.quantise((odd+even)>>14, (odd-even)>>14)
		e.bands.decode(b)
		dst = append(dst, b)
	}
	return dst
}

// g722Decoder decodes to sound at 16 kHz.
type g722Decoder struct {
	join  g722Filter
	bands g722Bands
	split g722Filter // of the sound in place of lost packets
}

// decode appends two samples for each octet.
func (d *g722Decoder) decode(dst []float32, packet []byte) []float32 {
	for _, b := range packet {
		low, high := d.bands.decode(b)
		odd, even := d.join.next(low+high, low-high)
		dst = append(dst, float32(saturated(odd>>11))/(1<<15), float32(saturated(even>>11))/(1<<15))
	}
	return dst
}

// follow adapts the predictors to the sound in place of a loss, as the encoder has adapted its
// own to the sound that was lost. Otherwise the sound after a loss is up to twice as loud for
// some milliseconds.
func (d *g722Decoder) follow(before, pcm []float32) {
	for i := range d.split {
		d.split[i] = int16Of(before[len(before)-len(d.split)+i])
	}
	for i := 0; i+1 < len(pcm); i += 2 {
		odd, even := d.split.next(int16Of(pcm[i]), int16Of(pcm[i+1]))
		low, high := d.bands.decode(d.bands.quantise((odd+even)>>14, (odd-even)>>14))
		d.join.next(low+high, low-high)
	}
}

// int16Of returns a sample on the scale of 16 bits.
func int16Of(x float32) int { return saturated(int(bounded(x)*(1<<15)+32768.5) - 32768) }
