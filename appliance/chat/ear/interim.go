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
	// interimAfter is how much more has to be said before the next interim transcription: three words.
	interimAfter = time.Second
	// interruptionLead is how long before a voice would interrupt the assistant its words are transcribed. By
	// then enough of an "mm-hm", which may last a second, was heard; a transcription takes a third of that on
	// a slow machine.
	interruptionLead = 300 * time.Millisecond
	// interimShare bounds the cost of interim transcriptions to an eighth of the time. A slow engine or a
	// busy box makes fewer.
	interimShare = 8
)

// interim schedules transcriptions of an utterance while the user goes on. The model reads these
// words meanwhile, so that it has only the last ones to read at the end.
type interim struct {
	next    int64 // when the next one may start, as a sample of the stream
	started time.Duration
	cancel  context.CancelFunc
}

// stop cancels the interim transcription for one that is waited for.
func (i *interim) stop() {
	if i.cancel != nil {
		i.cancel()
		i.cancel = nil
	}
}

// transcribeInterim starts an interim transcription if it is time and no other is under way.
func (e *Ear) transcribeInterim(ctx context.Context) {
	o := &e.interim
	after, urgency := interimAfter, engine.Prefetch.Urgency()
	if e.echo.active { // the user speaks over the assistant
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

// postInterim posts an interim transcript. A failure is not reported, because the same words will be
// transcribed at the end.
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
