package engine

import "time"

// SegmentOptions say when voice is an utterance and when the utterance is over.
type SegmentOptions struct {
	// Threshold is the probability from which a frame counts as voice, 0 to 1.
	Threshold float64
	// PrefixPadding is how much audio before the first voiced frame belongs to
	// the utterance, so that a soft first consonant is not lost.
	PrefixPadding time.Duration
	// ShortPause is the silence after which what was said is worth a guess.
	ShortPause time.Duration
	// EndSilence is the silence that ends the utterance; 0 leaves that to
	// Segmenter.Close.
	EndSilence time.Duration
	// MinVoiced is the least voice that can hold a word. Music and noise give
	// the detector two frames at most (64 ms), the shortest word measured
	// twenty-one (672 ms).
	MinVoiced time.Duration
}

// DefaultSegmentOptions returns the interface's defaults; the two that it does
// not have are ours. A pause is worth a guess from 96 ms, three frames: a wrong
// guess costs what the machine had to spare, and what it read of the user's
// words stays read; a right one that waits for 200 ms comes 100 ms later. A word
// needs 250 ms of voice.
func DefaultSegmentOptions() SegmentOptions {
	return SegmentOptions{
		Threshold:     0.5,
		PrefixPadding: 300 * time.Millisecond,
		ShortPause:    96 * time.Millisecond,
		EndSilence:    800 * time.Millisecond,
		MinVoiced:     250 * time.Millisecond,
	}
}

// SegmentKind says what a Segment tells.
type SegmentKind int

// The kinds of Segment, in the order in which an utterance brings them.
const (
	// Voice: a voiced frame of an utterance; Voiced grows.
	Voice SegmentKind = iota
	// Faded: the voice has likely ended, though the detector has not let go of it
	// for long enough; PCM holds the current part. Paused follows in time, or the
	// voice was only soft.
	Faded
	// Paused: the short pause is reached; PCM holds the current part, unless
	// the utterance is too Short to hold a word.
	Paused
	// Resumed: voice again after Paused. Begin is where it comes back.
	Resumed
	// PartEnded: the utterance grows long; PCM holds a part that is complete,
	// the next part follows.
	PartEnded
	// Ended: the silence is long enough. The last part is that of the last
	// Paused or PartEnded; PCM is empty.
	Ended
	// Dropped: over, and too short to hold a word.
	Dropped
)

// Segment is one thing that a Segmenter has to say.
type Segment struct {
	Kind SegmentKind
	// Utterance counts utterances from 1.
	Utterance int
	// Voiced is the voice in the utterance so far.
	Voiced time.Duration
	// Short says that the utterance holds too little voice for a word so far.
	Short bool
	// Begin and End are where the voice of the utterance (of the part, for
	// Paused and PartEnded) begins and ends so far, in samples of the stream.
	Begin, End int64
	// PCM is the audio of the current part with its prefix padding. It stays
	// as it is: the segmenter writes only behind it.
	PCM []float32
}
