package engine

import "slices"

const (
	// endHop is the resolution at which the end of a voice is located, 8 ms. endSpan is how many
	// hops are examined together, since a click is shorter.
	endHop  = SpeechRateHz / 125
	endSpan = 2
	// endBack is how many hops before the detector's end the voice may have ended, 192 ms.
	endBack = 24
	// levelTime is how much of the voice determines its level.
	levelTime = 2 * SpeechRateHz
	// softest is the lowest energy of a voice's end relative to the voice, -30 dB; what is below
	// that in clean recordings is breath and room noise. overFloor is the least ratio to the noise
	// that follows, 2 dB.
	softest   = 1.0 / 1000
	overFloor = 1.6
	// detectorLag is how many hops after the end of a voice the detector reports the end, in the
	// median: 48 ms, a little less in noise.
	detectorLag = 6
)

// voiceEnd returns the index in pcm at which the voice ends. letGo is where the detector stopped
// reporting voice, up to 150 ms late; the sound after it is the background noise. If a soft end
// continues after letGo, the voice ends with it. Noise hides soft ends; in noise the voice ends
// detectorLag before letGo, but not before the last sound that is louder than the noise.
func voiceEnd(pcm []float32, letGo int) int {
	from := max(0, letGo-levelTime)
	hops := (&loudness{}).energies(pcm[from:])
	let := (letGo - from) / endHop
	if let < endBack || let > len(hops)-endSpan {
		return letGo
	}
	level := slices.Sorted(slices.Values(hops[:let]))[let*9/10]
	behind := hops[let:]
	floor := slices.Sorted(slices.Values(behind))[len(behind)/2]
	threshold, noisy := max(overFloor*floor, softest*level), floor > noisy*level
	voiced := func(i int) bool { // hop i is the first after the span
		var energy float32
		for _, e := range hops[i-endSpan : i] {
			energy += e
		}
		return energy > endSpan*threshold
	}
	end := let
	if !noisy && voiced(let) {
		for end < len(hops) && voiced(end+1) {
			end++
		}
		if end == len(hops) { // no silence at all
			return letGo
		}
	}
	for back := maxSearchBack(noisy, threshold > softest*level); end > let-back && !voiced(end); {
		end--
	}
	if !noisy && hops[end-1] <= threshold { // the hop before it alone was loud enough for the span
		end--
	}
	return from + end*endHop
}

// maxSearchBack returns how many hops before the detector's end the voice may have ended: fewer
// where noise hides soft ends.
func maxSearchBack(noisy, someNoise bool) int {
	switch {
	case noisy:
		return detectorLag
	case someNoise:
		return 2 * detectorLag
	}
	return endBack
}
