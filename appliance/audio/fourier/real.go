package fourier

import "math/cmplx"

// Real is the transform of real signals of one length, by a complex one of half the length. It
// is safe for concurrent use.
type Real struct {
	half  *Transform
	turns []complex128 // exp(-2πik/n), for k up to n/4
}

// NewReal returns the transform of length n; n/2 must be a length of New.
func NewReal(n int) *Real {
	return &Real{half: New(n / 2), turns: New(n).turns[:n/4+1]}
}

// Forward returns the values 0 to n/2 of the transform of x, padded with zeros; the others are
// their conjugates. It uses work, which must have n/2+1 values.
func (r *Real) Forward(x []float64, work []complex128) []complex128 {
	half := r.half.Len()
	z := work[:half+1]
	clear(z)
	for i := range len(x) / 2 {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	if len(x)%2 == 1 {
		z[len(x)/2] = complex(x[len(x)-1], 0)
	}
	r.half.Forward(z[:half])
	z[half] = z[0]
	for k, turn := range r.turns { // separate the even samples from the odd ones
		a, b := z[k], z[half-k]
		even := complex((real(a)+real(b))/2, (imag(a)-imag(b))/2)
		odd := turn * complex((imag(a)+imag(b))/2, (real(b)-real(a))/2)
		z[k], z[half-k] = even+odd, cmplx.Conj(even-odd)
	}
	return z
}

// Power writes the squared magnitudes of those values to out.
func (r *Real) Power(out, x []float64, work []complex128) {
	for k, v := range r.Forward(x, work) {
		out[k] = real(v)*real(v) + imag(v)*imag(v)
	}
}
