package audio

import "math"

const (
	// tuneLUFS is quiet: callers hold the handset to an ear, and wait for a voice, which is 7 LU
	// louder.
	tuneLUFS = -30
	// tuneNote is the time from one note to the next, in seconds, and tuneRing how long each
	// rings.
	tuneNote, tuneRing = 0.5, 3.0
)

// tuneNotes are broken chords, C, A minor, F and G, as numbers of MIDI: 60 is the middle C. All
// lie between 260 and 800 Hz, where every telephone is good.
var tuneNotes = [32]int{
	60, 67, 72, 76, 79, 76, 72, 67,
	69, 72, 76, 69, 72, 76, 72, 69,
	65, 69, 72, 77, 76, 72, 69, 65,
	67, 71, 74, 79, 74, 71, 67, 62,
}

// Tune returns 16 s of quiet music for callers on hold, mono at a rate of 8 kHz or more. It can
// be repeated without a break: the notes at its end ring on at its beginning.
func Tune(rateHz int) []float32 {
	pcm := make([]float32, int(float64(len(tuneNotes))*tuneNote*float64(rateHz)))
	ring := int(tuneRing * float64(rateHz))
	for i, number := range tuneNotes {
		hz := 440 * math.Pow(2, float64(number-69)/12)
		begin := int(float64(i) * tuneNote * float64(rateHz))
		for k := range ring {
			pcm[(begin+k)%len(pcm)] += float32(pluck(hz, float64(k)/float64(rateHz)))
		}
	}
	gain := float32(math.Pow(10, (tuneLUFS-Loudness(pcm, rateHz))/20))
	for i := range pcm {
		pcm[i] *= gain
	}
	return pcm
}

// pluck returns the level of a note at a time in seconds: a soft beginning, and three partials,
// of which the higher ones fade first.
func pluck(hz, at float64) (level float64) {
	for k := 1.0; k <= 3; k++ {
		level += math.Sin(2*math.Pi*k*hz*at) * math.Exp(-at*(1+k)) / (k * k)
	}
	const attack = 0.02
	if at < attack {
		level *= 0.5 - 0.5*math.Cos(math.Pi*at/attack)
	}
	return level * min(1, (tuneRing-at)/0.5)
}
