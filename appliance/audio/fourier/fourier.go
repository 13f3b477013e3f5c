// Package fourier has the discrete Fourier transform of powers of two, for finding echoes,
// simulating rooms and measuring voices, and of 25 times a power of two, for the 25 ms windows
// of speech models.
package fourier

import "math"

// Transform has the tables for one length. It is safe for concurrent use.
type Transform struct {
	turns   []complex128 // exp(-2πik/n), for k below n
	place   []int        // palindromic, so that reversing digits only swaps
	radices []int        // the same from both ends, so that reversing digits only swaps
}

// New returns the transform of length n, a power of two or 25 times one.
func New(n int) *Transform {
	t := &Transform{turns: make([]complex128, n), place: make([]int, n)}
	for k := range t.turns {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
		t.turns[k] = complex(cos, sin)
	}
	twos := n
	if n%25 == 0 {
		twos = n / 25
		t.radices = append(t.radices, 5)
	}
	for ; twos > 1; twos /= 2 {
		t.radices = append(t.radices, 2)
	}
	if n%25 == 0 {
		t.radices = append(t.radices, 5)
	}
	for i := range t.place {
		rest := i
		for _, r := range t.radices {
			t.place[i] = t.place[i]*r + rest%r
			rest /= r
		}
	}
	return t
}

// Len returns the length.
func (t *Transform) Len() int { return len(t.place) }

// Forward transforms x in place, after Cooley and Tukey (1965).
func (t *Transform) Forward(x []complex128) {
	for i, j := range t.place {
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	size := 1 // of the transforms done so far
	for _, r := range t.radices {
		switch {
		case r == 5:
			t.joinFive(x, size)
		case size == 1: // the factor is 1
			for i := 0; i+1 < len(x); i += 2 {
				x[i], x[i+1] = x[i]+x[i+1], x[i]-x[i+1]
			}
		default:
			t.join(x, size)
		}
		size *= r
	}
}

// join combines each two transforms into one of twice the length.
func (t *Transform) join(x []complex128, size int) {
	step := len(t.turns) / 2 / size
	for at := 0; at < len(x); at += 2 * size {
		low, high := x[at:at+size], x[at+size:at+2*size]
		high = high[:len(low)]
		for k := range low {
			a, b := low[k], high[k]*t.turns[k*step]
			low[k], high[k] = a+b, a-b
		}
	}
}

// joinFive combines each five transforms into one of five times the length.
func (t *Transform) joinFive(all []complex128, size int) {
	n := len(t.turns)
	step := n / 5 / size
	var parts [5]complex128
	for at := 0; at < n; at += 5 * size {
		x := all[at : at+5*size]
		for k := range size {
			for j := range parts {
				parts[j] = x[k+j*size] * t.turns[j*k*step]
			}
			for q := range parts {
				sum := parts[0]
				for j := 1; j < 5; j++ {
					sum += parts[j] * t.turns[j*q%5*(n/5)]
				}
				x[k+q*size] = sum
			}
		}
	}
}

// Back is the inverse of Forward.
func (t *Transform) Back(x []complex128) {
	t.Forward(x)
	n := len(x)
	for i, j := 1, n-1; i < j; i, j = i+1, j-1 {
		x[i], x[j] = x[j], x[i]
	}
	for i := range x {
		x[i] *= complex(1/float64(n), 0)
	}
}
