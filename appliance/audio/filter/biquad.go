// Package filter has the second-order filters that measure and colour sound.
package filter

import "math"

// A Biquad is a second-order filter in transposed direct form II. The zero value
// outputs silence; the functions of this package return useful ones.
type Biquad struct{ b0, b1, b2, a1, a2, z1, z2 float64 }

// Next filters one sample.
func (b *Biquad) Next(x float64) float64 {
	y := b.b0*x + b.z1
	b.z1 = b.b1*x - b.a1*y + b.z2
	b.z2 = b.b2*x - b.a2*y
	return y
}

// Highpass returns a filter that removes what lies below hz. Highpass and the
// shelves are those of R. Bristow-Johnson's "Cookbook formulae for audio equalizer
// biquad filter coefficients", where w is the corner and alpha its width.
func Highpass(rateHz, hz, q float64) Biquad {
	w := 2 * math.Pi * min(hz/rateHz, 0.49)
	cos, alpha := math.Cos(w), math.Sin(w)/(2*q)
	a0 := 1 + alpha
	return Biquad{
		b0: (1 + cos) / 2 / a0,
		b1: -(1 + cos) / a0,
		b2: (1 + cos) / 2 / a0,
		a1: -2 * cos / a0,
		a2: (1 - alpha) / a0,
	}
}

// HighShelf returns a filter that raises what lies above hz by db.
func HighShelf(rateHz, hz, db float64) Biquad { return shelf(rateHz, hz, db, -1) }

// LowShelf returns a filter that raises what lies below hz by db.
func LowShelf(rateHz, hz, db float64) Biquad { return shelf(rateHz, hz, db, 1) }

// shelf computes a shelf filter: side is 1 for a low shelf, and -1 for a high one,
// which is its mirror image.
func shelf(rateHz, hz, db, side float64) Biquad {
	a := math.Pow(10, db/40)
	w := 2 * math.Pi * min(hz/rateHz, 0.49)
	cos, alpha := math.Cos(w), math.Sin(w)/math.Sqrt2
	root := 2 * math.Sqrt(a) * alpha
	a0 := (a + 1) + side*(a-1)*cos + root
	return Biquad{
		b0: a * ((a + 1) - side*(a-1)*cos + root) / a0,
		b1: side * 2 * a * ((a - 1) - side*(a+1)*cos) / a0,
		b2: a * ((a + 1) - side*(a-1)*cos - root) / a0,
		a1: side * -2 * ((a - 1) + side*(a+1)*cos) / a0,
		a2: ((a + 1) + side*(a-1)*cos - root) / a0,
	}
}
