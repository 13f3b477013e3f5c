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
	// interimAfter is how much more has to be said before it is worth another
	// look in the middle: three words.
	interimAfter = time.Second
	// interruptionLead is how long before a voice interrupts the assistant its words
	// are looked at: of "mm-hm", which may last for a second, enough has been
	// heard, and a look takes a third of that on a slow machine.
	interruptionLead = 300 * time.Millisecond
	// interimShare bounds what looks in the middle may cost: an eighth of the
	// time. An ear that needs long, or a box that has no cores to spare, looks
	// less often.
	interimShare = 8
)

// interim says when the ear next looks at what is said before it is said to
// the end. The model reads those words while the user goes on, so that at the
// end it has only the last ones to read.
type interim struct {
	next    int64 // sample of the stream
	started time.Duration
	cancel  context.CancelFunc
}

// stop gives way to a transcription that somebody waits for.
func (o *interim) stop() {
	if o.cancel != nil {
		o.cancel()
		o.cancel = nil
	}
}

// transcribeInterim has what is said so far transcribed, if it is time for that and
// nothing else is to be.
func (e *Ear) transcribeInterim(ctx context.Context) {
	o := &e.interim
	after, urgency := interimAfter, engine.Prefetch.Urgency()
	if e.echo.active { // somebody speaks over the assistant
		after = min(after, max(0, e.settings.MinInterruption-interruptionLead))
		urgency = engine.NewUrgency(engine.Speculative, time.Now().Add(interruptionLead))
	}
	if earliest := e.utterance.begin + int64(audio.Samples(after, engine.SpeechRateHz)); o.next < earliest {
		o.next = earliest
	}
	if e.transcribing || e.segmenter.Position() < o.next {
		return
	}
	said, ok := e.segmenter.Part()
	if !ok {
		return
	}
	o.started = e.Clock()
	o.cancel = e.transcribe(ctx, transcription{utterance: e.utterance, interim: true, segment: said}, urgency)
	e.judgeVoice()
}

// postInterim passes on what was said so far. What could not be transcribed in
// the middle will be at the end, so that nobody needs to hear of it.
func (e *Ear) postInterim(g transcription) {
	o := &e.interim
	o.cancel = nil
	rest := max(interimAfter, interimShare*(e.Clock()-o.started))
	o.next = e.segmenter.Position() + int64(audio.Samples(rest, engine.SpeechRateHz))
	u := g.utterance
	if g.err != nil || u != e.utterance {
		return
	}
	e.Post(turn.PartlyTranscribed{At: turn.At(e.Clock()), Utterance: u.number, Transcript: turn.Transcript{
		Text:     join(append(slices.Clip(u.parts), g.transcript.Text)),
		Language: g.transcript.Language,
		Begin:    e.streamClock.At(u.begin),
		End:      e.streamClock.At(g.segment.End),
	}})
}
