package audio

import (
	"math"

	"parley/appliance/audio/filter"
)

// The gates of ITU-R BS.1770-5, annex 1: blocks below the first, and then blocks 10 LU below
// the loudness of the rest, do not count.
const (
	absoluteGate = -70.0 // LUFS
	relativeGate = -10.0 // LU
)

// Loudness returns the integrated loudness of pcm in LUFS: ITU-R BS.1770-5, annex 1, for one
// channel: K-weighting, mean square in blocks of 400 ms that overlap by 75 %, both gates. Audio
// shorter than a block is one block. Silence, and anything else below -70 LUFS, is -Inf.
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

// blockPowers returns the mean square of the K-weighted blocks. They are summed from quarters,
// so that each sample is filtered once.
func blockPowers(pcm []float32, rateHz int) []float64 {
	shelf, highpass := filter.KWeighting(float64(rateHz))
	quarter := max(1, (rateHz+5)/10) // 100 ms
	var quarters []float64
	sum := 0.0
	for i, v := range pcm {
		y := highpass.Next(shelf.Next(float64(v)))
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
