package bench

import (
	"math"
	"slices"
	"time"
)

const (
	// windowDuration is the length of the pieces in which sound is told from silence, and
	// so the precision of its start and end.
	windowDuration = 10 * time.Millisecond
	// audibleDB is how far below its loudest piece a recording counts as sound: at 40 dB
	// the noise of a quiet recording is silence, and the last breath of a word is not.
	audibleDB = 40
	// faintestVoice is the power of the faintest sound of a voice: -60 dB of full scale,
	// 40 below the loudest 10 ms of any voice.
	faintestVoice = 1e-6
)

// sounding returns for each piece of pcm whether it is sound. A silent pcm has none.
func sounding(pcm []float32, rateHz int) []bool {
	var powers []float64
	for piece := range slices.Chunk(pcm, windowSamples(rateHz)) {
		var sum float64
		for _, x := range piece {
			sum += float64(x) * float64(x)
		}
		powers = append(powers, sum/float64(len(piece)))
	}
	if len(powers) == 0 {
		return nil
	}
	floor := slices.Max(powers) * math.Pow(10, -audibleDB/10.)
	sounds := make([]bool, len(powers))
	for i, p := range powers {
		sounds[i] = p > 0 && p >= floor
	}
	return sounds
}

// span returns the start and end of the sound in pcm; ok is false if there is none.
func span(pcm []float32, rateHz int) (begin, end time.Duration, ok bool) {
	sounds := sounding(pcm, rateHz)
	first := slices.Index(sounds, true)
	if first < 0 {
		return 0, 0, false
	}
	last := len(sounds) - 1
	for !sounds[last] {
		last--
	}
	whole := time.Duration(len(pcm)) * time.Second / time.Duration(rateHz)
	return time.Duration(first) * windowDuration, min(time.Duration(last+1)*windowDuration, whole), true
}

// leadingSilence returns the silence before the first sound in a piece of synthetic
// speech, or all of it and false if there is none. A piece may be short and its loudest
// part a breath, so a sound must also reach faintestVoice.
func leadingSilence(pcm []float32, rateHz int) (silence time.Duration, audible bool) {
	sounds := sounding(pcm, rateHz)
	for i, piece := range slices.Collect(slices.Chunk(pcm, windowSamples(rateHz))) {
		var sum float64
		for _, x := range piece {
			sum += float64(x) * float64(x)
		}
		if sounds[i] && sum/float64(len(piece)) >= faintestVoice {
			return time.Duration(i) * windowDuration, true
		}
	}
	return time.Duration(len(pcm)) * time.Second / time.Duration(rateHz), false
}

// trimSilence returns pcm from its first sound to its last.
func trimSilence(pcm []float32, rateHz int) []float32 {
	begin, end, _ := span(pcm, rateHz)
	at := func(d time.Duration) int { return int(int64(d) * int64(rateHz) / int64(time.Second)) }
	return pcm[at(begin):min(at(end), len(pcm))]
}

// longestPause returns the longest silence between two sounds of pcm.
func longestPause(pcm []float32, rateHz int) time.Duration {
	longest, last := 0, -1
	for i, s := range sounding(pcm, rateHz) {
		if !s {
			continue
		}
		if last >= 0 {
			longest = max(longest, i-last-1)
		}
		last = i
	}
	return time.Duration(longest) * windowDuration
}

func windowSamples(rateHz int) int {
	return max(1, int(int64(rateHz)*int64(windowDuration)/int64(time.Second)))
}
