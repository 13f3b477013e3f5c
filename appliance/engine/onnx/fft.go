package onnx

import (
	"math"
	"math/cmplx"
)

// fft is a discrete Fourier transform of a length that is a product of small
// factors: Stockham's form, which leaves the result in order (Van Loan,
// "Computational Frameworks for the Fast Fourier Transform", 1992, §1.7). The
// tables are read only; the memory to work in is the caller's.
type fft struct {
	stages []fftStage
}

// fftStage splits each transform that is left, of length radix·len(turns),
// in radix ones.
type fftStage struct {
	radix int
	turns [][]complex128 // for each of the sums: radix × radix weights, row by row
}

func newFFT(radices ...int) *fft {
	n := 1
	for _, r := range radices {
		n *= r
	}
	var t fft
	for _, r := range radices {
		s := fftStage{radix: r}
		for p := range n / r {
			m := make([]complex128, r*r)
			for k := range r {
				for j := range r {
					m[k*r+j] = cmplx.Rect(1, -2*math.Pi*(float64(j*k)/float64(r)+float64(p*k)/float64(n)))
				}
			}
			s.turns = append(s.turns, m)
		}
		t.stages = append(t.stages, s)
		n /= r
	}
	return &t
}

// transform returns the transform of x. It works in x and spare, of x's
// length, and the result lies in one of the two.
func (t *fft) transform(x, spare []complex128) []complex128 {
	stride := 1
	for _, s := range t.stages {
		for p, turn := range s.turns {
			for q := range stride {
				for k := range s.radix {
					var sum complex128
					for j, w := range turn[k*s.radix : (k+1)*s.radix] {
						sum += w * x[q+stride*(p+j*len(s.turns))]
					}
					spare[q+stride*(s.radix*p+k)] = sum
				}
			}
		}
		x, spare = spare, x
		stride *= s.radix
	}
	return x
}
