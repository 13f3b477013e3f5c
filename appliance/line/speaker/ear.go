package speaker

import (
	"time"

	"parley/appliance/audio"
	"parley/appliance/audio/clean"
	"parley/appliance/engine"
)

const (
	// frame is 10 ms of sound at the ear's rate, as the cleaner takes it.
	frame = downHz / 100
	// kept is how much sound is kept for a conversation that begins with what was
	// said already: the longest part of an utterance, and the time in which it is
	// read.
	kept = 25 * downHz
)

// ear listens to the microphone while nobody talks, and cleans what it brings at
// all times. One goroutine owns it.
type ear struct {
	down      *audio.Resampler
	cleaner   Cleaner
	reference *reference
	segmenter *engine.Segmenter

	raw      []float32 // at the ear's rate, less than a frame
	played   []float32 // a frame of what was played
	fresh    []float32 // clean, of the newest piece
	past     []float32 // clean, the newest of all
	pos      int64     // samples so far
	pending  []float32 // less than the detector takes
	base     int64     // where the segmenter's samples begin
	segments []engine.Segment
	options  engine.SegmentOptions
	detector engine.VoiceDetector
}

func newEar(c Cleaner, d engine.VoiceDetector) (*ear, error) {
	down, err := newDown()
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
	// Each pause has what was said read: one within a word costs as much as one behind
	// the phrase.
	e.options.ShortPause = 250 * time.Millisecond
	e.reset()
	return e, nil
}

// reset forgets what was said so far.
func (e *ear) reset() {
	e.segmenter = engine.NewSegmenter(e.detector.NewStream(), e.options)
	e.base, e.pending, e.past, e.segments = e.pos, e.pending[:0], e.past[:0], nil
}

// hear takes a piece of sound as the microphone brings it, and returns whether it
// holds voice. What the segmenter says of it is in segments.
func (e *ear) hear(in incoming) (voiced bool, err error) {
	before := len(e.raw)
	e.raw = e.down.Process(e.raw, make([]float32, in.lost))
	e.raw = e.down.Process(e.raw, in.pcm)
	e.reference.Heard(in.at.Sub(e.reference.begun), len(e.raw)-before)
	e.fresh, e.segments = e.fresh[:0], e.segments[:0]
	for ; len(e.raw) >= frame; e.raw = e.raw[frame:] {
		e.fresh = append(e.fresh, e.clean(e.raw[:frame])...)
	}
	e.raw = append([]float32(nil), e.raw...)
	e.pos += int64(len(e.fresh))
	e.past = append(e.past, e.fresh...)
	if extra := len(e.past) - kept; extra > kept/4 {
		e.past = append(e.past[:0], e.past[extra:]...)
	}
	e.pending = append(e.pending, e.fresh...)
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

// clean returns a frame without what was played.
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

// newest is the sound of the newest piece.
func (e *ear) newest() []float32 { return append([]float32(nil), e.fresh...) }

// since is the sound from a sample on, as far back as it is kept.
func (e *ear) since(sample int64) []float32 {
	from := max(0, len(e.past)-int(e.pos-sample))
	return append([]float32(nil), e.past[min(from, len(e.past)):]...)
}

// reference is what was played, at the ear's rate, in the time of the microphone.
// The loudspeaker's thread writes it.
type reference struct {
	*clean.Drift

	begun time.Time
	down  *audio.Resampler // it and the next are of the loudspeaker's thread
	fresh []float32
}

func newReference() (*reference, error) {
	down, err := newDown()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	return &reference{Drift: clean.NewDrift(downHz, func() time.Duration {
		return time.Since(begun)
	}), begun: begun, down: down}, nil
}

// played takes what the loudspeaker was given.
func (r *reference) played(out []float32) {
	r.fresh = r.down.Process(r.fresh[:0], out)
	r.Played(r.fresh)
}
