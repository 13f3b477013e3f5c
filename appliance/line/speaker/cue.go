package speaker

import "math"

// tone is a signal in place of words.
type tone []float64 // frequencies in Hz, one after the other

// A rising tone means begun, a falling one ended, and a low one failed, as with phones and
// doors.
var (
	toneBegin  = tone{523.25, 783.99}
	toneEnd    = tone{783.99, 523.25}
	toneFailed = tone{220, 185}
)

const (
	// noteLength is the length of a note, 110 ms, and noteFade the length of its fades, 8
	// ms: a shorter one clicks.
	noteLength = rateHz * 110 / 1000
	noteFade   = rateHz * 8 / 1000
	// noteLevel is the peak of a note: as loud as average speech (-23 LUFS).
	noteLevel = 0.1
)

// pcm returns the tone's sound, at rateHz.
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

// cue plays a tone after what is queued, if the cue is tones. The tone for a failure is
// always played.
func (s *Speaker) cue(t tone) {
	if s.options.Cue != Tones {
		return
	}
	_ = s.playout.add("", 0, t.pcm()) // it fails if half an hour of sound waits
}
