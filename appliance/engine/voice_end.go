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
	// noisy is the energy from which the silence hides the voice's soft ends,
	// beside the voice itself, -26 dB. There the detector, which knows how voice
	// sounds, knows better.
	noisy = 1.0 / 400
)

// voiceEnd is where the voice in a sound ends, as its index. letGo is where the
// detector found no more voice, up to 150 ms late, and what is behind it is
// silence: the noise of the place. Where a soft end goes on behind letGo, the
// voice ends with it.
func voiceEnd(pcm []float32, letGo int) int {
	from := max(0, letGo-levelTime)
	hops := hopEnergies(pcm[from:])
	let := (letGo - from) / endHop
	if let < endBack || let > len(hops)-endSpan {
		return letGo
	}
	level := slices.Sorted(slices.Values(hops[:let]))[let*9/10]
	behind := hops[let:]
	floor := slices.Sorted(slices.Values(behind))[len(behind)/2]
	if floor > noisy*level {
		return letGo
	}
	threshold := max(overFloor*floor, softest*level)
	voiced := func(i int) bool { // up to hop i
		var energy float32
		for _, e := range hops[i-endSpan : i] {
			energy += e
		}
		return energy > endSpan*threshold
	}
	end := let
	if voiced(let) {
		for end < len(hops) && voiced(end+1) {
			end++
		}
		if end == len(hops) { // no silence at all
			return letGo
		}
	}
	for end > let-endBack && !voiced(end) {
		end--
	}
	if hops[end-1] <= threshold { // the one before it was loud enough for two
		end--
	}
	return from + end*endHop
}

// hopEnergies are the energies of the hops of a sound, of its high frequencies
// more than of its low ones: the last consonants are there, and most noise is
// not.
func hopEnergies(pcm []float32) []float32 {
	all := make([]float32, len(pcm)/endHop)
	var last float32
	for i := range all {
		for _, x := range pcm[i*endHop : (i+1)*endHop] {
			d := x - 0.9*last
			last = x
			all[i] += d * d
		}
	}
	return all
}
