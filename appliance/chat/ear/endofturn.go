package ear

import (
	"context"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

// A TurnEnd tells by how it sounds whether somebody who fell silent has finished.
// It may be called from many goroutines.
type TurnEnd interface {
	// Load makes it ready, if it is not yet, so that the first question is not
	// the slow one. It says itself what goes wrong.
	Load(ctx context.Context)
	// Probability returns how likely it is, 0 to 1, that the speaker of pcm
	// (mono, engine.SpeechRateHz; the last 8 s count) has finished.
	Probability(ctx context.Context, pcm []float32, u *engine.Urgency) (float64, error)
}

const (
	// maxEndSamples is the longest sound that a TurnEnd hears.
	maxEndSamples = 8 * engine.SpeechRateHz
	// endSilence is the silence behind the voice that it hears, 100 ms: of 40
	// sentences 36 were finished to it and 32 that were cut were not; with
	// 200 ms it is 35 and 23, for it takes silence for an end.
	endSilence = engine.SpeechRateHz / 10
	// endDue is when the answer is needed, counted from the question: what sounds
	// finished is answered after 350 ms of silence, of which up to 200 are over.
	endDue = 100 * time.Millisecond
	// endTimeout is when it is of no use any more: the silence that most configs
	// ask for is over.
	endTimeout = time.Second
)

// endQuestion is the question whether what was said is all, where it is asked.
type endQuestion struct {
	on     bool
	cancel context.CancelFunc // of the newest question
}

// judgeEnds has the turn's end judged from now on, or no more.
func (e *Ear) judgeEnds(ctx context.Context, on bool) {
	on = on && e.TurnEnd != nil
	if on && !e.endQuestion.on {
		e.Go(func() { e.TurnEnd.Load(ctx) })
	}
	e.endQuestion.on = on
}

// askEnd asks whether what was said up to a pause is all. Where that cannot
// be said, the config's silence holds.
func (e *Ear) askEnd(ctx context.Context, u *utterance, s engine.Segment) {
	f := &e.endQuestion
	if f.cancel != nil {
		f.cancel()
	}
	if !f.on {
		return
	}
	behind := int(e.segmenter.Position() - s.End) // the pause so far
	voice := s.PCM[:max(0, len(s.PCM)-max(0, behind-endSilence))]
	// What was closed before is still a part of the sentence.
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
