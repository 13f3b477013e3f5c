package engine

import "time"

// SegmentOptions decide what counts as an utterance and when it ends.
type SegmentOptions struct {
	// Threshold is the probability, 0 to 1, from which a frame counts as voice.
	Threshold float64
	// PrefixPadding is how much audio before the first voiced frame belongs to the utterance, so
	// that a soft first consonant is not lost.
	PrefixPadding time.Duration
	// ShortPause is the silence after which a speculative transcript is worthwhile.
	ShortPause time.Duration
	// EndSilence is the silence that ends the utterance; with 0 only Segmenter.Close ends it.
	EndSilence time.Duration
	// MinVoiced is the shortest voice that can be a word. Music and noise give the detector two
	// frames at most (64 ms), the shortest word measured twenty-one (672 ms).
	MinVoiced time.Duration
}

// DefaultSegmentOptions returns the defaults of the API, and our own for the two options that it
// does not have. A pause is worth a speculative transcript from 96 ms, three frames: a wrong guess
// only costs spare computation, and the prefill of the user's words is not lost; a right guess that
// waits for 200 ms comes 100 ms later. A word needs 250 ms of voice.
func DefaultSegmentOptions() SegmentOptions {
	return SegmentOptions{
		Threshold:     0.5,
		PrefixPadding: 300 * time.Millisecond,
		ShortPause:    96 * time.Millisecond,
		EndSilence:    800 * time.Millisecond,
		MinVoiced:     250 * time.Millisecond,
	}
}

// SegmentKind is the kind of a Segment.
type SegmentKind int

// The kinds of Segment, in the order in which they occur in an utterance.
const (
	// Voice reports a voiced frame of an utterance; Voiced has grown.
	Voice SegmentKind = iota
	// Faded reports that the voice has probably ended, before the detector's probability has been
	// low for ShortPause. PCM holds the current part. Either Paused follows, or the voice was only
	// soft.
	Faded
	// Paused reports that ShortPause is reached. PCM holds the current part, unless the utterance
	// is too Short to hold a word.
	Paused
	// Resumed reports voice after Paused. Begin is where it returns.
	Resumed
	// PartEnded reports that PCM holds a complete part of a long utterance; the next part follows.
	PartEnded
	// Ended reports that EndSilence is reached. The last part was that of the last Paused or
	// PartEnded; PCM is empty.
	Ended
	// Dropped reports the end of an utterance that is too short to hold a word.
	Dropped
)

// Segment is one event of a Segmenter.
type Segment struct {
	Kind SegmentKind
	// Utterance counts utterances from 1.
	Utterance int
	// Voiced is the total duration of voice in the utterance so far.
	Voiced time.Duration
	// Short says that the utterance holds too little voice for a word so far.
	Short bool
	// Begin and End are the positions, in samples of the stream, at which the voice of the
	// utterance (for Paused and PartEnded: of the part) begins and ends so far.
	Begin, End int64
	// PCM is the audio of the current part with its prefix padding. It is not modified later; the
	// segmenter only appends behind it.
	PCM []float32
	// PCMBegin is the position of the first sample of PCM.
	PCMBegin int64
}
