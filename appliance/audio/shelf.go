package audio

import "math"

// The filters of R. Bristow-Johnson's "Cookbook formulae for audio equalizer biquad
// filter coefficients": w is the corner, alpha its width.

func highpass(rateHz, hz, q float64) biquad {
	w := 2 * math.Pi * min(hz/rateHz, 0.49)
	cos, alpha := math.Cos(w), math.Sin(w)/(2*q)
	a0 := 1 + alpha
	return biquad{
		b0: (1 + cos) / 2 / a0,
		b1: -(1 + cos) / a0,
		b2: (1 + cos) / 2 / a0,
		a1: -2 * cos / a0,
		a2: (1 - alpha) / a0,
	}
}

// shelf raises what is above a corner by some dB, or what is below it where high
// is false.
func shelf(rateHz, hz, db float64, high bool) biquad {
	a := math.Pow(10, db/40)
	w := 2 * math.Pi * min(hz/rateHz, 0.49)
	cos, alpha := math.Cos(w), math.Sin(w)/math.Sqrt2
	side := 1.0 // of the low shelf; the high one is its mirror
	if high {
		side = -1
	}
	root := 2 * math.Sqrt(a) * alpha
	a0 := (a + 1) + side*(a-1)*cos + root
	return biquad{
		b0: a * ((a + 1) - side*(a-1)*cos + root) / a0,
		b1: side * 2 * a * ((a - 1) - side*(a+1)*cos) / a0,
		b2: a * ((a + 1) - side*(a-1)*cos - root) / a0,
		a1: side * -2 * ((a - 1) + side*(a+1)*cos) / a0,
		a2: ((a + 1) + side*(a-1)*cos - root) / a0,
	}
}
