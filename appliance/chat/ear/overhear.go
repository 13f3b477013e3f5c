package ear

import (
	"context"
	"slices"
	"time"

	"parley/appliance/audio"
	"parley/appliance/chat/turn"
	"parley/appliance/engine"
)

const (
	// overhearAfter is how much more has to be said before it is worth another
	// look in the middle: three words.
	overhearAfter = time.Second
	// interruptsSoon is how long before a voice interrupts the assistant its words
	// are looked at: of "mm-hm", which may last for a second, enough has been
	// heard, and a look takes a third of that on a slow machine.
	interruptsSoon = 300 * time.Millisecond
	// overhearShare bounds what looks in the middle may cost: an eighth of the
	// time. An ear that needs long, or a box that has no cores to spare, looks
	// less often.
	overhearShare = 8
)

// overheard says when the ear next looks at what is said before it is said to
// the end. The model reads those words while the user goes on, so that at the
// end it has only the last ones to read.
type overheard struct {
	next   int64 // sample of the stream
	begun  time.Duration
	cancel context.CancelFunc
}

// stop gives way to a transcription that somebody waits for.
func (o *overheard) stop() {
	if o.cancel != nil {
		o.cancel()
		o.cancel = nil
	}
}

// overhear has what is said so far transcribed, if it is time for that and
// nothing else is to be.
func (e *Ear) overhear(ctx context.Context) {
	o := &e.overheard
	after, urgency := overhearAfter, engine.Prefetch.Urgency()
	if e.echo.active { // somebody speaks over the assistant
		after = min(after, max(0, e.settings.MinInterruption-interruptsSoon))
		urgency = engine.NewUrgency(engine.Speculative, time.Now().Add(interruptsSoon))
	}
	if earliest := e.utterance.begin + int64(audio.Samples(after, engine.SpeechRateHz)); o.next < earliest {
		o.next = earliest
	}
	if e.awaiting || e.segmenter.Position() < o.next {
		return
	}
	said, ok := e.segmenter.Part()
	if !ok {
		return
	}
	o.begun = e.Clock()
	o.cancel = e.transcribe(ctx, guess{of: e.utterance, midway: true, segment: said}, urgency)
	e.feelPause()
}

// overheardSo passes on what was said so far. What could not be transcribed in
// the middle will be at the end, so that nobody needs to hear of it.
func (e *Ear) overheardSo(g guess) {
	o := &e.overheard
	o.cancel = nil
	rest := max(overhearAfter, overhearShare*(e.Clock()-o.begun))
	o.next = e.segmenter.Position() + int64(audio.Samples(rest, engine.SpeechRateHz))
	u := g.of
	if g.err != nil || u != e.utterance {
		return
	}
	e.Post(turn.Overheard{At: turn.At(e.Clock()), Utterance: u.number, Words: turn.Words{
		Text:     join(append(slices.Clip(u.parts), g.transcript.Text)),
		Language: g.transcript.Language,
		Begin:    e.time.At(u.begin),
		End:      e.time.At(g.segment.End),
	}})
}
