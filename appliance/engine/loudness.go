package engine

import "slices"

const (
	// fadedHops is how long a voice must be quiet, 48 ms, to have probably ended although the
	// detector still reports it. fadedBelow is the probability that the detector must be under at
	// the same time. In 40 prompts, this reported the end 96 ms before the detector's short pause
	// in the median, with 12 more false reports than the short pause (38 to 26). With 64 ms the
	// figures are 64 ms and 34 to 26; without the probability 62 to 26.
	fadedHops  = 6
	fadedBelow = 0.9
	// noisy is the noise energy relative to the voice, -26 dB, from which the end of a voice cannot
	// be detected so early.
	noisy = 1.0 / 400
	// quietHops is how much sound without voice determines the noise level, half a second.
	quietHops = 64
)

// loudness tracks the level of a stream in hops of endHop samples: the energy with the high
// frequencies emphasised, because they carry the final consonants and little of the usual noise.
type loudness struct {
	last  float32   // sample
	hops  []float32 // the newest hops, levelTime of them
	quiet []float32 // the newest hops without voice
}

// energies returns the energy of each hop of the next sound of the stream.
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

// add records a frame; voice says whether it may hold voice.
func (l *loudness) add(frame []float32, voice bool) {
	hops := l.energies(frame)
	l.hops = keepNewest(l.hops, hops, levelTime/endHop)
	if !voice {
		l.quiet = keepNewest(l.quiet, hops, quietHops)
	}
}

// keepNewest appends more to all and returns the newest n.
func keepNewest(all, more []float32, n int) []float32 {
	if over := len(all) + len(more) - n; over > 0 {
		all = append(all[:0], all[over:]...)
	}
	return append(all, more...)
}

// burst reports whether the newest frame has a sound nearly as loud as the voice before it (-26 dB)
// and much louder than the noise.
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

// levels returns the energy of the voice and of the noise.
func (l *loudness) levels() (level, floor float32) {
	level = slices.Sorted(slices.Values(l.hops))[len(l.hops)*9/10]
	if len(l.quiet) > 0 {
		floor = slices.Sorted(slices.Values(l.quiet))[len(l.quiet)/2]
	}
	return level, floor
}

// faded reports whether the voice is quiet now. In a noisy place, where soft sounds cannot be
// heard, it returns false.
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
