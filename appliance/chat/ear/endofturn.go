package ear

import (
	"context"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// A TurnEnd judges from the sound whether a speaker who fell silent has finished. It may be used by many
// goroutines.
type TurnEnd interface {
	// Load loads the model if it is not loaded, so that the first question is not slow. It logs its own
	// errors.
	Load(ctx context.Context)
	// Probability returns the probability, 0 to 1, that the speaker of pcm (mono, engine.SpeechRateHz; the
	// last 8 s count) has finished.
	Probability(ctx context.Context, pcm []float32, u *engine.Urgency) (float64, error)
}

const (
	// maxEndSamples is the longest sound that a TurnEnd hears.
	maxEndSamples = 8 * engine.SpeechRateHz
	// endSilence is the silence after the voice that it hears, 100 ms. Of 40 sentences it judged 36
	// finished, and 32 unfinished when they were cut; with 200 ms, 35 and 23, because it takes silence for an
	// end.
	endSilence = engine.SpeechRateHz / 10
	// endDue is when the answer is needed after the question: a sentence that sounds finished is answered
	// after 350 ms of silence, up to 200 of which have passed.
	endDue = 100 * time.Millisecond
	// endTimeout is when the answer is no longer of use: the silence that most configs ask for is over.
	endTimeout = time.Second
)

// endQuestion is the question whether the user has finished.
type endQuestion struct {
	on     bool
	cancel context.CancelFunc // cancels the newest question
}

// judgeEnds turns the question on or off.
func (e *Ear) judgeEnds(ctx context.Context, on bool) {
	on = on && e.TurnEnd != nil
	if on && !e.endQuestion.on {
		e.Go(func() { e.TurnEnd.Load(ctx) })
	}
	e.endQuestion.on = on
}

// askEnd asks whether the user has finished at a pause. Without an answer, the config's silence applies.
func (e *Ear) askEnd(ctx context.Context, u *utterance, s engine.Segment) {
	f := &e.endQuestion
	if f.cancel != nil {
		f.cancel()
	}
	if !f.on {
		return
	}
	behind := int(e.segmenter.Position() - s.End) // length of the pause so far
	voice := s.PCM[:max(0, len(s.PCM)-max(0, behind-endSilence))]
	// A part that was closed before belongs to the same sentence.
	before := u.closed[max(0, len(u.closed)-max(0, maxEndSamples-len(voice))):]
	pcm := append(before[:len(before):len(before)], voice...)
	ask, cancel := context.WithTimeout(ctx, endTimeout)
	f.cancel = cancel
	revision, urgency := u.revision, engine.NewUrgency(engine.Speculative, time.Now().Add(endDue))
	e.Go(func() {
		defer cancel()
		if p, err := e.TurnEnd.Probability(ask, pcm, urgency); err == nil {
			e.Post(turn.EndJudged{
				At:          turn.At(e.Clock()),
				Utterance:   u.number,
				Revision:    revision,
				Probability: p,
			})
		}
	})
}
