// Package fourier has the discrete Fourier transform of lengths that are powers of
// two, which is what finding an echo and simulating a room need.
package fourier

import "math"

// A Transform is one length's tables. Any number of goroutines may use it.
type Transform struct {
	turns []complex128 // exp(-2πik/n), for k below n/2
	place []int        // bit-reversed
}

// New returns the transform of length n, a power of two.
func New(n int) *Transform {
	t := &Transform{turns: make([]complex128, n/2), place: make([]int, n)}
	for k := range t.turns {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
		t.turns[k] = complex(cos, sin)
	}
	for i := 1; i < n; i++ {
		t.place[i] = t.place[i/2]/2 + i%2*n/2
	}
	return t
}

// Len is the length.
func (t *Transform) Len() int { return len(t.place) }

// Forward transforms x in place, after Cooley and Tukey (1965).
func (t *Transform) Forward(x []complex128) {
	for i, j := range t.place {
		if i < j {
			x[i], x[j] = x[j], x[i]
		}
	}
	n := len(x)
	for half := 1; half < n; half *= 2 {
		step := n / 2 / half
		for at := 0; at < n; at += 2 * half {
			low, high := x[at:at+half], x[at+half:at+2*half]
			for k := range low {
				a, b := low[k], high[k]*t.turns[k*step]
				low[k], high[k] = a+b, a-b
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
