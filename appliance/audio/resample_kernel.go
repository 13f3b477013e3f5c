package audio

import "math"

// The shape of the filter. A transition from 0.91 to 1 of half the lower rate and 90 dB of
// rejection take, by Kaiser's estimate N = (A-7.95)/(14.36 Δf), 127 taps at the lower rate: 64
// zero crossings to each side.
const (
	kernelLobes     = 64
	kernelCutoff    = 0.955 // of half the lower rate, the middle of the transition
	kernelRejection = 90.0  // dB
	// finePhases is the resolution of the stored sinc, per zero crossing, for ratios with too
	// many phases. Values between two rows are interpolated linearly, with an error of at most
	// (π/512)²/8, which is -106 dB.
	finePhases = 512
	// maxKernelSize bounds a table: 512 KiB of float32, enough for the exact phases of every
	// pair of common rates.
	maxKernelSize = 1 << 17
)

// kernel is the filter of a stage as a table: row p holds the taps for an output that is p/rows
// of an input sample after its middle tap.
type kernel struct {
	taps  int
	rows  int
	exact bool // one row per phase; otherwise rows are interpolated
	table []float32
}

// newKernel designs the filter that changes the rate by l/m.
func newKernel(l, m int) *kernel {
	scale := min(1, float64(l)/float64(m)) // lower rate over input rate
	k := &kernel{taps: 2 * int(math.Ceil(kernelLobes/scale)), rows: l, exact: true}
	if l*k.taps > maxKernelSize {
		k.rows, k.exact = max(1, int(math.Ceil(finePhases*scale))), false
	}
	k.table = make([]float32, (k.rows+1)*k.taps)
	half := float64(k.taps / 2)
	window := newKaiser(kernelRejection)
	row := make([]float64, k.taps)
	for p := 0; p <= k.rows; p++ {
		if q := k.rows - p; q < p { // the filter is symmetric
			for i := range row {
				k.table[p*k.taps+i] = k.table[(q+1)*k.taps-1-i]
			}
			continue
		}
		offset := half - 1 + float64(p)/float64(k.rows)
		sum := 0.0
		for i := range row {
			x := float64(i) - offset
			row[i] = sinc(x*scale*kernelCutoff) * window.at(x/half)
			sum += row[i]
		}
		for i, v := range row { // each phase passes a constant unchanged
			k.table[p*k.taps+i] = float32(v / sum)
		}
	}
	return k
}

// at filters x, which has taps samples, for a phase of l that has no row.
func (k *kernel) at(x []float32, phase, l int) float32 {
	p := phase * k.rows
	row, rest := p/l, float32(p%l)/float32(l)
	here := dot(k.table[row*k.taps:(row+1)*k.taps], x)
	next := dot(k.table[(row+1)*k.taps:(row+2)*k.taps], x)
	return here + rest*(next-here)
}

// dot is the inner loop. Four sums avoid waiting for the previous addition.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += a[i] * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}

// kaiser is the Kaiser window I0(β√(1-x²))/I0(β), with the β that gives a
// rejection in dB (Kaiser 1974: β = 0.1102 for A over 50).
type kaiser struct{ beta, norm float64 }

func newKaiser(rejection float64) kaiser {
	beta := 0.1102 * (rejection - 8.7)
	return kaiser{beta, besselI0(beta)}
}

func (k kaiser) at(x float64) float64 {
	if x < -1 || x > 1 {
		return 0
	}
	return besselI0(k.beta*math.Sqrt(1-x*x)) / k.norm
}

// besselI0 returns the modified Bessel function of order 0, by its power series Σ
// ((x/2)^k/k!)², more precisely than float32.
func besselI0(x float64) float64 {
	sum, term := 1.0, 1.0
	q := x * x / 4
	for k := 1.0; term > sum*1e-11; k++ {
		term *= q / (k * k)
		sum += term
	}
	return sum
}
