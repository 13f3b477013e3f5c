package filter

import "math"

// KWeighting returns the two filters of BS.1770 for any rate: the analogue
// filters whose bilinear transform at 48 kHz is the standard's tables 1 and 2,
// transformed at rateHz. Their corner, gain and Q are found by solving those
// tables backwards.
func KWeighting(rateHz float64) (shelf, highpass Biquad) {
	const (
		shelfHz, shelfDB, shelfQ = 1681.974450955533, 3.999843853973347, 0.7071752369554196
		highHz, highQ            = 38.13547087602444, 0.5003270373238773
	)
	k := math.Tan(math.Pi * min(shelfHz/rateHz, 0.49))
	vh := math.Pow(10, shelfDB/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/shelfQ + k*k
	shelf = Biquad{
		b0: (vh + vb*k/shelfQ + k*k) / a0,
		b1: 2 * (k*k - vh) / a0,
		b2: (vh - vb*k/shelfQ + k*k) / a0,
		a1: 2 * (k*k - 1) / a0,
		a2: (1 - k/shelfQ + k*k) / a0,
	}
	k = math.Tan(math.Pi * min(highHz/rateHz, 0.49))
	a0 = 1 + k/highQ + k*k
	highpass = Biquad{
		b0: 1,
		b1: -2,
		b2: 1,
		a1: 2 * (k*k - 1) / a0,
		a2: (1 - k/highQ + k*k) / a0,
	}
	return shelf, highpass
}
