package speaker

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/engine"
)

const (
	// frame is 10 ms of sound at the ear's rate, as the cleaner needs it.
	frame = earHz / 100
	// history is how much sound is stored for a chat that begins with what was already
	// said: the longest part of an utterance, and the time to transcribe it.
	history = 25 * earHz
)

// ear cleans the microphone's sound, and detects voice while there is no chat. One
// goroutine uses it.
type ear struct {
	down      *audio.Resampler
	cleaner   Cleaner
	reference *reference
	segmenter *engine.Segmenter

	raw          []float32 // at the ear's rate, less than a frame
	played       []float32 // one frame of what was played
	newestClean  []float32 // of the newest piece
	cleanHistory []float32 // the newest sound up to history
	pos          int64     // number of samples so far
	pending      []float32 // less than the detector needs
	base         int64     // sample at which the segmenter began
	segments     []engine.Segment
	options      engine.SegmentOptions
	detector     engine.VoiceDetector
}

func newEar(c Cleaner, d engine.VoiceDetector) (*ear, error) {
	down, err := newDownsampler()
	if err != nil {
		return nil, err
	}
	reference, err := newReference()
	if err != nil {
		return nil, err
	}
	e := &ear{
		down:      down,
		cleaner:   c,
		reference: reference,
		played:    make([]float32, frame),
		detector:  d,
		options:   engine.DefaultSegmentOptions(),
	}
	e.options.EndSilence = 600 * time.Millisecond
	// Each pause starts a transcription; one within a word costs as much as one after the
	// phrase.
	e.options.ShortPause = 250 * time.Millisecond
	e.reset()
	return e, nil
}

// reset forgets what was heard so far.
func (e *ear) reset() {
	e.segmenter = engine.NewSegmenter(e.detector.NewStream(), e.options)
	e.base, e.pending, e.cleanHistory, e.segments = e.pos, e.pending[:0], e.cleanHistory[:0], nil
}

// hear processes a piece of sound of the microphone, and reports whether it contains voice.
// The segmenter's results are in segments.
func (e *ear) hear(in incoming) (voiced bool, err error) {
	before := len(e.raw)
	e.raw = e.down.Process(e.raw, make([]float32, in.lost))
	e.raw = e.down.Process(e.raw, in.pcm)
	e.reference.Heard(in.at.Sub(e.reference.begun), len(e.raw)-before)
	e.newestClean, e.segments = e.newestClean[:0], e.segments[:0]
	for ; len(e.raw) >= frame; e.raw = e.raw[frame:] {
		e.newestClean = append(e.newestClean, e.clean(e.raw[:frame])...)
	}
	e.raw = append([]float32(nil), e.raw...)
	e.pos += int64(len(e.newestClean))
	e.cleanHistory = append(e.cleanHistory, e.newestClean...)
	if extra := len(e.cleanHistory) - history; extra > history/4 {
		e.cleanHistory = append(e.cleanHistory[:0], e.cleanHistory[extra:]...)
	}
	e.pending = append(e.pending, e.newestClean...)
	for len(e.pending) >= engine.FrameSamples {
		if e.segments, err = e.segmenter.Push(e.segments, e.pending[:engine.FrameSamples]); err != nil {
			return false, err
		}
		e.pending = append(e.pending[:0], e.pending[engine.FrameSamples:]...)
	}
	for i := range e.segments {
		e.segments[i].Begin += e.base
		e.segments[i].End += e.base
		voiced = voiced || e.segments[i].Kind == engine.Voice && !e.segments[i].Short
	}
	return voiced, nil
}

// clean removes what was played from a frame.
func (e *ear) clean(heard []float32) []float32 {
	place := e.reference.Reference(e.played)
	out := make([]float32, frame)
	if e.cleaner == nil {
		copy(out, heard)
		return out
	}
	switch place {
	case clean.Restored:
		e.cleaner.ReferenceMoved()
	case clean.Repositioned, clean.Dry:
		e.cleaner.DelayChanged()
	case clean.Unknown:
		e.cleaner.PlaybackUnknown()
	}
	e.cleaner.Frame(out, heard, e.played)
	return out
}

// newest returns the sound of the newest piece.
func (e *ear) newest() []float32 { return append([]float32(nil), e.newestClean...) }

// since returns the sound from a sample on, as far as it is stored.
func (e *ear) since(sample int64) []float32 {
	from := max(0, len(e.cleanHistory)-int(e.pos-sample))
	return append([]float32(nil), e.cleanHistory[min(from, len(e.cleanHistory)):]...)
}

// reference is what was played, at the ear's rate, aligned with the microphone. The
// loudspeaker's thread writes it.
type reference struct {
	*clean.Drift

	begun time.Time
	down  *audio.Resampler // this and the next field are used by the loudspeaker's thread
	fresh []float32
}

func newReference() (*reference, error) {
	down, err := newDownsampler()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	return &reference{Drift: clean.NewDrift(earHz, func() time.Duration {
		return time.Since(begun)
	}), begun: begun, down: down}, nil
}

// played adds what the loudspeaker was given.
func (r *reference) played(out []float32) {
	r.fresh = r.down.Process(r.fresh[:0], out)
	r.Played(r.fresh)
}
