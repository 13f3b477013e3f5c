package engine

import "slices"

const (
	// fadedHops is how long a voice is quiet, 48 ms, before it has likely ended
	// although the detector has not let go of it, and fadedBelow the probability
	// under which the detector then is. In 40 prompts that came 96 ms before the
	// detector's own short pause in the median, and for nothing 12 times more often
	// than that did (38 to 26). With 64 ms it is 64 and 34 to 26; without the
	// probability 62 to 26.
	fadedHops  = 6
	fadedBelow = 0.9
	// noisy is the energy from which the place hides too much of a voice to tell
	// so early that it has ended, beside the voice itself, -26 dB.
	noisy = 1.0 / 400
	// quietHops is how much of what is no voice tells how loud the place is, half
	// a second.
	quietHops = 64
)

// loudness follows how loud a stream is, in hops of endHop samples: the energy
// of its high frequencies more than of its low ones, for the last consonants are
// there, and most noise is not.
type loudness struct {
	last  float32   // sample
	hops  []float32 // the newest, levelTime of them
	quiet []float32 // the newest without voice
}

// energies returns the energies of the hops of the sound that comes next.
func (l *loudness) energies(pcm []float32) []float32 {
	all := make([]float32, len(pcm)/endHop)
	for i := range all {
		for _, x := range pcm[i*endHop : (i+1)*endHop] {
			d := x - 0.9*l.last
			l.last = x
			all[i] += d * d
		}
	}
	return all
}

// add takes a frame, which may hold voice.
func (l *loudness) add(frame []float32, voice bool) {
	hops := l.energies(frame)
	l.hops = keepNewest(l.hops, hops, levelTime/endHop)
	if !voice {
		l.quiet = keepNewest(l.quiet, hops, quietHops)
	}
}

// keepNewest keeps the newest n.
func keepNewest(all, more []float32, n int) []float32 {
	if over := len(all) + len(more) - n; over > 0 {
		all = append(all[:0], all[over:]...)
	}
	return append(all, more...)
}

// burst reports whether the newest frame is nearly as loud as the voice before
// it, -26 dB, and much louder than the place.
func (l *loudness) burst() bool {
	n := len(l.hops)
	if n < levelTime/endHop/4 {
		return false
	}
	level, floor := l.levels()
	if floor > noisy*level {
		return false
	}
	threshold := max(4*floor, noisy*level)
	for i := n - FrameSamples/endHop + 1; i < n; i++ {
		if l.hops[i-1]+l.hops[i] > 2*threshold {
			return true
		}
	}
	return false
}

// levels are how loud the voice is, and how loud the place.
func (l *loudness) levels() (level, floor float32) {
	level = slices.Sorted(slices.Values(l.hops))[len(l.hops)*9/10]
	if len(l.quiet) > 0 {
		floor = slices.Sorted(slices.Values(l.quiet))[len(l.quiet)/2]
	}
	return level, floor
}

// faded reports whether what was loud is quiet now. Where the noise of the place
// hides soft sounds, that cannot be told.
func (l *loudness) faded() bool {
	n := len(l.hops)
	if n < 2*fadedHops {
		return false
	}
	level, floor := l.levels()
	if floor > noisy*level {
		return false
	}
	threshold := max(overFloor*floor, softest*level)
	for i := n - fadedHops + 1; i < n; i++ {
		if l.hops[i-1]+l.hops[i] > 2*threshold {
			return false
		}
	}
	return true
}
