package engine

import "slices"

const (
	// endHop is the step in which the end of a voice is looked for, 8 ms, and
	// endSpan how many of them are looked at together: a click is shorter.
	endHop  = SpeechRateHz / 125
	endSpan = 2
	// endBack is how many hops before the moment at which the detector lets go
	// the voice may have ended, 192 ms.
	endBack = 24
	// levelTime is how much of the voice tells how loud it is.
	levelTime = 2 * SpeechRateHz
	// softest is how much energy the softest end of a voice has beside the voice
	// itself, -30 dB: what is under that in clean recordings is the breath and
	// the room behind it. overFloor is by how much it has more than the silence
	// behind it, 2 dB.
	softest   = 1.0 / 1000
	overFloor = 1.6
	// detectorLag is how many hops after the end of a voice the detector lets go
	// of it in the median, 48 ms, and a little less in noise.
	detectorLag = 6
)

// voiceEnd is where the voice in a sound ends, as its index. letGo is where the
// detector found no more voice, up to 150 ms late, and what is behind it is
// silence: the noise of the place. Where a soft end goes on behind letGo, the
// voice ends with it. Noise hides soft ends; in it the voice has ended by as much
// before letGo as the detector mostly is late, but not before the last that is
// heard over the noise.
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
	voiced := func(i int) bool { // up to hop i
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
	if !noisy && hops[end-1] <= threshold { // the one before it was loud enough for two
		end--
	}
	return from + end*endHop
}

// maxSearchBack is how many hops before the detector lets go a voice may end: fewer
// where noise hides soft ends, and least where it is loud.
func maxSearchBack(noisy, someNoise bool) int {
	switch {
	case noisy:
		return detectorLag
	case someNoise:
		return 2 * detectorLag
	}
	return endBack
}
