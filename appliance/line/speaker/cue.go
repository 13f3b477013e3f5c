package speaker

import "math"

// tone is what a person hears where words are not needed.
type tone []float64 // frequencies in Hz, one after the other

// Upwards is begun, downwards is over, and a low one is that it does not work, as
// phones and doors have taught everybody.
var (
	toneBegin  = tone{523.25, 783.99}
	toneEnd    = tone{783.99, 523.25}
	toneFailed = tone{220, 185}
)

const (
	// noteLength is how long each of its notes lasts, 110 ms, and noteFade how long
	// it takes to come and go, 8 ms: shorter clicks.
	noteLength = rateHz * 110 / 1000
	noteFade   = rateHz * 8 / 1000
	// noteLevel is its peak: as loud as speech is on average (-23 LUFS).
	noteLevel = 0.1
)

// pcm is the sound of it, at rateHz.
func (t tone) pcm() []float32 {
	out := make([]float32, 0, len(t)*noteLength)
	for _, hz := range t {
		for i := range noteLength {
			v := noteLevel * math.Sin(2*math.Pi*hz*float64(i)/rateHz)
			v *= min(1, float64(i)/noteFade, float64(noteLength-i)/noteFade)
			out = append(out, float32(v))
		}
	}
	return out
}

// cue plays a tone, behind what is played; that something failed is said in any
// case.
func (s *Speaker) cue(t tone) {
	if s.options.Cue != Tones {
		return
	}
	_ = s.playout.add("", 0, t.pcm()) // where half an hour waits, nobody misses it
}
