package expression

import (
	"math"
	"math/bits"
	"math/cmplx"
)

// realFFT computes spectra of real signals of one length, a power of two from 16
// on. It is read-only once made; each caller brings its own buffer.
type realFFT struct {
	n     int
	order []int          // bit reversal of the n/2 complex points
	turn  []complex128   // exp(-2πik/n), k below n/2
	steps [][]complex128 // of the turns, those of each stage from the third on
}

func newRealFFT(n int) realFFT {
	f := realFFT{n: n, order: make([]int, n/2), turn: make([]complex128, n/2)}
	shift := 64 - bits.Len(uint(n/2)) + 1
	for i := range f.order {
		f.order[i] = int(bits.Reverse64(uint64(i)) >> shift)
		f.turn[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(n))
	}
	for size := 8; size <= n/2; size *= 2 {
		step := make([]complex128, size/2)
		for k := range step {
			step[k] = f.turn[k*n/size]
		}
		f.steps = append(f.steps, step)
	}
	return f
}

// power writes |X[k]|² of x, padded with zeros, for k from 0 to n/2 into out;
// work has room for n/2 values.
func (f realFFT) power(out, x []float64, work []complex128) {
	z := f.transform(x, work)
	half := len(z)
	out = out[:half+1]
	for k := 1; k < half; k++ {
		v := f.part(z, k)
		out[k] = real(v)*real(v) + imag(v)*imag(v)
	}
	first, last := real(z[0])+imag(z[0]), real(z[0])-imag(z[0])
	out[0], out[half] = first*first, last*last
}

// cosines writes the real part of X[k] for k below len(out), at most n/2.
func (f realFFT) cosines(out, x []float64, work []complex128) {
	z := f.transform(x, work)
	out[0] = real(z[0]) + imag(z[0])
	for k := 1; k < len(out); k++ {
		out[k] = real(f.part(z, k))
	}
}

// transform computes the spectrum of a complex signal of half the length: the
// even samples are its real and the odd ones its imaginary part.
func (f realFFT) transform(x []float64, work []complex128) []complex128 {
	z := work[:f.n/2]
	for i, from := range f.order {
		switch {
		case 2*from+1 < len(x):
			z[i] = complex(x[2*from], x[2*from+1])
		case 2*from < len(x):
			z[i] = complex(x[2*from], 0)
		default:
			z[i] = 0
		}
	}
	for at := 0; at < len(z); at += 4 { // the first two stages at once
		q := z[at : at+4 : at+4]
		a, b, c, d := q[0]+q[1], q[0]-q[1], q[2]+q[3], q[2]-q[3]
		d = complex(imag(d), -real(d))
		q[0], q[1], q[2], q[3] = a+c, b+d, a-c, b-d
	}
	for _, step := range f.steps {
		half := len(step)
		for at := 0; at < len(z); at += 2 * half {
			low, high := z[at:at+half], z[at+half:at+2*half]
			high = high[:len(low)]
			for k, w := range step[:len(low)] {
				a, b := low[k], mul(high[k], w)
				low[k], high[k] = a+b, a-b
			}
		}
	}
	return z
}

// part makes of the spectrum z of a signal of half the length that of the whole,
// at k from 1 on.
func (f realFFT) part(z []complex128, k int) complex128 {
	a, b := z[k], z[len(z)-k]
	even := complex((real(a)+real(b))/2, (imag(a)-imag(b))/2)
	odd := complex((imag(a)+imag(b))/2, (real(b)-real(a))/2)
	return even + mul(odd, f.turn[k])
}
