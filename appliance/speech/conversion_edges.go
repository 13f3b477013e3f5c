package speech

import "slices"

const (
	// edgeHops is how many hops a second of sound is divided into: 8 ms each.
	edgeHops = 125
	// softVoice is the least energy of a voice where it begins and ends, relative to the voice
	// itself: -30 dB, as in conversations. overNoise is by how much that exceeds the background
	// noise: 3 dB.
	softVoice = 1.0 / 1000
	overNoise = 2
	// The voice may begin up to onsetBack hops before the detector finds it, 160 ms, and up to
	// onsetLate hops after: the detector takes frames of 32 ms.
	onsetBack, onsetLate = 20, 6
)

// energies returns the energy of each hop, with high frequencies emphasised over the low ones
// of hum and rumble.
func energies(pcm []float32, rateHz int) []float32 {
	hop := rateHz / edgeHops
	all := make([]float32, len(pcm)/hop)
	last := float32(0)
	for i := range all {
		for _, x := range pcm[i*hop : (i+1)*hop] {
			d := x - 0.9*last
			last = x
			all[i] += d * d
		}
	}
	return all
}

func quantile(all []float32, q float64) float32 {
	if len(all) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(all))[int(q*float64(len(all)-1))]
}

// onset returns the index where a voice begins in a recording (at engine.SpeechRateHz), given
// the detector's estimate. Before it is background noise, or the end of another voice, which
// onset does not reach.
func onset(pcm []float32, about int) int {
	const rateHz = 16000
	hop := rateHz / edgeHops
	all := energies(pcm, rateHz)
	at := about / hop
	if at >= len(all) {
		return about
	}
	level := quantile(all[at:], 0.9)
	noise := quantile(all[max(0, at-8*onsetBack):max(0, at-onsetBack/2)], 0.5)
	threshold := max(softVoice*level, overNoise*noise)
	begin := min(at+onsetLate, len(all)-1)
	for i, quiet := begin, 0; i >= max(0, at-onsetBack) && quiet < 3; i-- { // the closure of a plosive is not silence
		if all[i] > threshold {
			begin, quiet = i, 0
		} else if i <= at {
			quiet++
		}
	}
	return begin * hop
}

// extent returns the indices where the voice begins and ends in synthesised sound, or 0, 0 if
// there is none.
func extent(pcm []float32, rateHz int) (begin, end int) {
	all := energies(pcm, rateHz)
	threshold := max(softVoice*quantile(all, 0.9), 1e-9)
	loud := func(e float32) bool { return e > threshold }
	first := slices.IndexFunc(all, loud)
	if first < 0 {
		return 0, 0
	}
	last := len(all)
	for !loud(all[last-1]) {
		last--
	}
	hop := rateHz / edgeHops
	return first * hop, last * hop
}
