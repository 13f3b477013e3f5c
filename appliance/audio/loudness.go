package audio

import "math"

// The gates of ITU-R BS.1770-5, annex 1: blocks under the first, and then those
// 10 LU under the loudness of the rest, do not count.
const (
	absoluteGate = -70.0 // LUFS
	relativeGate = -10.0 // LU
)

// Loudness returns the integrated loudness of pcm in LUFS: ITU-R BS.1770-5,
// annex 1, for one channel: K-weighting, mean square in blocks of 400 ms that
// overlap by 75 %, both gates. Audio shorter than a block is one block. Silence,
// and anything else under -70 LUFS, is -Inf.
func Loudness(pcm []float32, rateHz int) float64 {
	if len(pcm) == 0 || rateHz < 1 {
		return math.Inf(-1)
	}
	blocks := blockPowers(pcm, rateHz)
	floor := fromLUFS(absoluteGate)
	loud := meanAbove(blocks, floor)
	if loud == 0 {
		return math.Inf(-1)
	}
	floor = max(floor, loud*math.Pow(10, relativeGate/10))
	return toLUFS(meanAbove(blocks, floor))
}

// toLUFS is equation 2 of BS.1770, with the channel's weight of 1.
func toLUFS(power float64) float64  { return -0.691 + 10*math.Log10(power) }
func fromLUFS(lufs float64) float64 { return math.Pow(10, (lufs+0.691)/10) }

func meanAbove(powers []float64, floor float64) float64 {
	sum, n := 0.0, 0
	for _, p := range powers {
		if p > floor {
			sum += p
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// blockPowers returns the mean square of the K-weighted blocks. They are added
// up from their quarters, so that each sample is filtered once.
func blockPowers(pcm []float32, rateHz int) []float64 {
	shelf, highpass := kWeighting(float64(rateHz))
	quarter := max(1, (rateHz+5)/10) // 100 ms
	var quarters []float64
	sum := 0.0
	for i, v := range pcm {
		y := highpass.next(shelf.next(float64(v)))
		sum += y * y
		if (i+1)%quarter == 0 {
			quarters = append(quarters, sum)
			sum = 0
		}
	}
	if len(quarters) < 4 {
		for _, q := range quarters {
			sum += q
		}
		return []float64{sum / float64(len(pcm))}
	}
	blocks := make([]float64, 0, len(quarters)-3)
	for i := 3; i < len(quarters); i++ {
		four := quarters[i-3] + quarters[i-2] + quarters[i-1] + quarters[i]
		blocks = append(blocks, four/float64(4*quarter))
	}
	return blocks
}

// A biquad is a filter of second order, transposed direct form II.
type biquad struct{ b0, b1, b2, a1, a2, z1, z2 float64 }

func (f *biquad) next(x float64) float64 {
	y := f.b0*x + f.z1
	f.z1 = f.b1*x - f.a1*y + f.z2
	f.z2 = f.b2*x - f.a2*y
	return y
}

// kWeighting returns the two filters of BS.1770 for any rate: the analogue
// filters whose bilinear transform at 48 kHz is the standard's tables 1 and 2,
// transformed at rateHz. Their corner, gain and Q are found by solving those
// tables backwards.
func kWeighting(rateHz float64) (shelf, highpass biquad) {
	const (
		shelfHz, shelfDB, shelfQ = 1681.974450955533, 3.999843853973347, 0.7071752369554196
		highHz, highQ            = 38.13547087602444, 0.5003270373238773
	)
	k := math.Tan(math.Pi * min(shelfHz/rateHz, 0.49))
	vh := math.Pow(10, shelfDB/20)
	vb := math.Pow(vh, 0.4996667741545416)
	a0 := 1 + k/shelfQ + k*k
	shelf = biquad{
		b0: (vh + vb*k/shelfQ + k*k) / a0,
		b1: 2 * (k*k - vh) / a0,
		b2: (vh - vb*k/shelfQ + k*k) / a0,
		a1: 2 * (k*k - 1) / a0,
		a2: (1 - k/shelfQ + k*k) / a0,
	}
	k = math.Tan(math.Pi * min(highHz/rateHz, 0.49))
	a0 = 1 + k/highQ + k*k
	highpass = biquad{
		b0: 1,
		b1: -2,
		b2: 1,
		a1: 2 * (k*k - 1) / a0,
		a2: (1 - k/highQ + k*k) / a0,
	}
	return shelf, highpass
}
