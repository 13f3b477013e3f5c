package expression

import "time"

// RecordingLength is how much of a Recording can still be judged, its newest part.
const RecordingLength = recordingFrames * frameTime

const (
	// recordingFrames is how much of a recording can still be judged, its newest 90 seconds, 4 MB: the longest window
	// of the API is a minute, and an utterance is judged at most 21 s after its beginning.
	recordingFrames = 9000
	// longestStretch is how many frames are judged together; a longer stretch has the mean tone of equal parts.
	longestStretch = maxFrames
	frameTime      = 10 * time.Millisecond
)

// A Recording measures a sound of any length as it comes, and judges stretches of its newest 90 seconds. One goroutine
// uses it.
type Recording struct{ sound Sound }

// NewRecording returns a Recording.
func (m *Meter) NewRecording() *Recording {
	r := &Recording{*m.NewSound()}
	r.sound.limit = recordingFrames
	return r
}

// Hear takes the next samples, as Sound.Hear does.
func (r *Recording) Hear(pcm []float32) { r.sound.Hear(pcm) }

// Finish measures the sound up to its end. Nothing may follow.
func (r *Recording) Finish() {
	r.sound.frames = r.sound.all()
	r.sound.samples = r.sound.samples[:0]
}

// Tone judges a stretch of the recording, by times since its beginning: what was heard of it and is still stored.
// Frames of 25 ms belong to the stretch if they lie in it as a whole.
func (r *Recording) Tone(begin, end time.Duration) Tone {
	m, frames := r.sound.m, r.stretch(begin, end)
	if len(frames) == 0 {
		return Tone{m: m, of: voicePrior}
	}
	parts := (len(frames) + longestStretch - 1) / longestStretch
	tones := make([]Tone, parts)
	for i := range tones {
		tones[i] = m.toneOf(frames[i*len(frames)/parts : (i+1)*len(frames)/parts])
	}
	return MeanTone(tones...)
}

// Timbre describes the voice in a stretch of the recording, in its newest 20 s if it is longer, and reports whether it
// was enough.
func (r *Recording) Timbre(begin, end time.Duration) (t Timbre, enough bool) {
	frames := r.stretch(begin, end)
	if len(frames) == 0 {
		return t, false
	}
	return timbreOf(frames[max(0, len(frames)-longestStretch):])
}

func (r *Recording) stretch(begin, end time.Duration) []frame {
	s := &r.sound
	from := min(max(int((begin+frameTime-1)/frameTime)-s.dropped, 0), len(s.frames))
	to := min(int((end-window*time.Second/rateHz)/frameTime)+1-s.dropped, len(s.frames))
	return s.frames[from:max(from, to)]
}
