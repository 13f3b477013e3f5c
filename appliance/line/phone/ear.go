package phone

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"parley/appliance/engine"
)

const (
	// soundQueue bounds the pieces of 20 ms that wait for the ear, to 10 s: longer than a transcription takes
	// on a busy box.
	soundQueue = 500
	// maxHeard bounds the sound that the ear stores, 25 s: a transcriber takes up to 30 s.
	maxHeard = 25 * engine.SpeechRateHz
	// onset is the sound before a detected voice that belongs to it: a soft first consonant.
	onset = 300 * engine.SpeechRateHz / 1000
)

// ear hears a person outside of a chat. One goroutine uses it.
type ear struct {
	party *party
	sound chan []float32
	keys  chan rune

	transcriber engine.Transcriber
	language    string // of the words to expect; empty if the transcriber cannot be told
	log         *slog.Logger
	segmenter   *engine.Segmenter
	pending     []float32 // less than a frame
	heard       []float32 // the newest sound
	pos         int64     // samples that were heard
	beep        beeps
	beeped      bool // a beep was heard
}

// newEar returns an ear that listens to p, and calls an utterance ended after a silence.
func (s *Server) newEar(p *party, language string, silence time.Duration) *ear {
	o := engine.DefaultSegmentOptions()
	o.ShortPause, o.EndSilence = silence, silence
	o.MinVoiced = shortestWord
	e := &ear{
		party:       p,
		sound:       make(chan []float32, soundQueue),
		keys:        make(chan rune, maxDigits),
		transcriber: s.Transcriber,
		log:         s.Log,
		segmenter:   engine.NewSegmenter(s.Detector.NewStream(), o),
	}
	if known := engine.LanguagesOf(s.Transcriber); known == nil || slices.Contains(known, language) {
		e.language = language
	}
	p.listen(listener{
		hear: func(pcm []float32) error {
			select {
			case e.sound <- pcm:
			default: // the machine is too busy to hear everything
			}
			return nil
		},
		press: queueIn(e.keys),
	})
	return e
}

// shortestWord is the shortest voice that is transcribed: a "yes" has 150 ms of it. The detector takes music
// and noise for a voice of 64 ms at most.
const shortestWord = 120 * time.Millisecond

// hear processes a piece of sound.
func (e *ear) hear(pcm []float32) (segments []engine.Segment, err error) {
	e.pos += int64(len(pcm))
	e.heard = append(e.heard, pcm...)
	if extra := len(e.heard) - maxHeard; extra > maxHeard/4 {
		e.heard = append(e.heard[:0], e.heard[extra:]...)
	}
	e.pending = append(e.pending, pcm...)
	for len(e.pending) >= engine.FrameSamples {
		if segments, err = e.segmenter.Push(segments, e.pending[:engine.FrameSamples]); err != nil {
			return nil, err
		}
		e.pending = append(e.pending[:0], e.pending[engine.FrameSamples:]...)
	}
	e.beeped = e.beep.hear(pcm) || e.beeped
	return segments, nil
}

// between returns the sound between two samples, with the onset, as far as it is stored.
func (e *ear) between(begin, end int64) []float32 {
	first := e.pos - int64(len(e.heard))
	from, to := max(0, begin-onset-first), max(0, min(end, e.pos)-first)
	return slices.Clone(e.heard[min(from, to):to])
}

// transcribe returns the words in pcm; empty if they cannot be told.
func (e *ear) transcribe(ctx context.Context, pcm []float32) string {
	t, err := e.transcriber.Transcribe(ctx, pcm, engine.TranscribeOptions{
		Urgency:  engine.Live.Urgency(),
		Language: e.language,
	})
	if err != nil && ctx.Err() == nil {
		e.log.Error("cannot transcribe what was said on the telephone", "err", err)
	}
	return t.Text
}
