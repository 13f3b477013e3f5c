package fourier

import "math/cmplx"

// Real is the transform of real signals of one length, by one of half of it. Any
// number of goroutines may use it.
type Real struct {
	half  *Transform
	turns []complex128 // exp(-2πik/n), for k up to n/4
}

// NewReal returns the transform of length n, of which half is a length of New.
func NewReal(n int) *Real {
	return &Real{half: New(n / 2), turns: New(n).turns[:n/4+1]}
}

// Forward returns the values of the transform of x, padded with zeros, from 0 to
// n/2; the others are their conjugates. It works in work, which has room for them.
func (t *Real) Forward(x []float64, work []complex128) []complex128 {
	half := t.half.Len()
	z := work[:half+1]
	clear(z)
	for i := range len(x) / 2 {
		z[i] = complex(x[2*i], x[2*i+1])
	}
	if len(x)%2 == 1 {
		z[len(x)/2] = complex(x[len(x)-1], 0)
	}
	t.half.Forward(z[:half])
	z[half] = z[0]
	for k, turn := range t.turns { // apart again: the even samples and the odd ones
		a, b := z[k], z[half-k]
		even := complex((real(a)+real(b))/2, (imag(a)-imag(b))/2)
		odd := turn * complex((imag(a)+imag(b))/2, (real(b)-real(a))/2)
		z[k], z[half-k] = even+odd, cmplx.Conj(even-odd)
	}
	return z
}

// Power writes the squared sizes of those values to out.
func (t *Real) Power(out, x []float64, work []complex128) {
	for k, v := range t.Forward(x, work) {
		out[k] = real(v)*real(v) + imag(v)*imag(v)
	}
}
