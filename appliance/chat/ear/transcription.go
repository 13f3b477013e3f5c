package ear

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// utterance is one utterance: the current one, or one that is over and whose transcript is still to come.
type utterance struct {
	number       int
	pausing      bool
	over         bool
	begin        int64 // sample at which its voice begins
	end          int64 // sample at which its voice ends, at the newest pause
	revision     int
	asked        int       // the newest revision whose transcription was requested
	parts        []string  // transcripts of the closed parts, in order
	paused       *string   // transcript of the open part up to the current pause
	partRevision int       // the revision whose transcript becomes that of a closed part
	partPending  bool      // PartEnded will ask for that transcript
	closed       []float32 // sound of the newest closed part, for the TurnEnd
	cancel       context.CancelFunc
	urgency      *engine.Urgency // of the newest requested transcription
	early        early
	speculative  speculativeTranscript // of the newest transcript
	voice        UtteranceScorer       // measures its feelings; may be nil
	voiceUpTo    int64                 // sample up to which the voice was measured
}

// speculativeTranscript holds the tokens of a transcript, which speed up the next transcription of the same
// part with more sound.
type speculativeTranscript struct {
	part   int64 // sample at which the part's voice begins
	tokens engine.TranscriptTokens
}

// transcription is one transcription, before and after it was made.
type transcription struct {
	utterance  *utterance
	revision   int
	closedPart bool // of a closed part: its text stays
	interim    bool // made while the user goes on
	early      bool // requested before the pause was certain
	segment    engine.Segment
	transcript engine.Transcript
	err        error
}

// partEnded stores the transcript of a closed part. At a pause it is known already.
func (e *Ear) partEnded(ctx context.Context, s engine.Segment) {
	u := e.utterance
	if e.endQuestion.on {
		u.closed = s.PCM
	}
	e.dropEarly()
	switch {
	case u.paused != nil:
		u.parts = append(u.parts, *u.paused)
		u.paused = nil
	case u.partPending: // its transcription is under way
		u.partPending = false
	default:
		e.ask(ctx, transcription{utterance: u, closedPart: true, segment: s})
	}
}

// keepPauseTranscript makes the pending transcript of the last pause that of the part that ends there.
func (e *Ear) keepPauseTranscript() {
	u := e.utterance
	if u.paused != nil || u.asked != u.revision {
		return
	}
	u.partRevision, u.partPending, u.cancel = u.revision, true, nil
	for i := range e.waiting {
		if g := &e.waiting[i]; g.utterance == u && g.revision == u.revision {
			g.closedPart = true
		}
	}
}

// cancelUnneeded cancels the transcriptions of an utterance that goes on. Utterances that are over are
// transcribed, however late.
func (e *Ear) cancelUnneeded() {
	u := e.utterance
	if u.over {
		return
	}
	if u.cancel != nil {
		u.cancel()
	}
	e.waiting = slices.DeleteFunc(e.waiting, func(g transcription) bool { return g.utterance == u && !g.closedPart })
}

// ask requests the transcription of a segment, after the earlier requests.
func (e *Ear) ask(ctx context.Context, g transcription) {
	if !g.closedPart {
		g.utterance.asked = g.revision
	}
	if e.transcribing {
		e.interim.stop()
		e.waiting = append(e.waiting, g)
		return
	}
	// The transcript is needed when the turn is over, not before.
	urgency := engine.NewUrgency(engine.Speculative,
		time.Now().Add(e.settings.EndOfTurnSilence-engine.DefaultSegmentOptions().ShortPause))
	if g.utterance.over {
		urgency = engine.Live.Urgency()
	}
	cancel := e.transcribe(ctx, g, urgency)
	if !g.closedPart {
		g.utterance.cancel, g.utterance.urgency = cancel, urgency
	}
}

// transcribe starts a transcription, which is sent to transcribed when it is finished.
func (e *Ear) transcribe(ctx context.Context, g transcription, u *engine.Urgency) context.CancelFunc {
	e.transcribing = true
	options := engine.TranscribeOptions{Urgency: u}
	if d := g.utterance.speculative; d.part == g.segment.Begin {
		options.SpeculativeTokens = d.tokens
	}
	ctx, cancel := context.WithTimeout(ctx, transcribeTimeout)
	e.Go(func() {
		defer cancel()
		defer func() { e.transcribed <- g }() // after a panic too, because stop waits for it
		if len(g.segment.PCM) > 0 {
			g.transcript, g.err = e.Transcriber.Transcribe(ctx, g.segment.PCM, options)
		}
	})
	return cancel
}

// takeTranscription takes a finished transcription and starts the next.
func (e *Ear) takeTranscription(ctx context.Context, g transcription) {
	e.transcribing = false
	if g.err == nil {
		g.utterance.speculative = speculativeTranscript{g.segment.Begin, g.transcript.Tokens}
	}
	switch {
	case g.interim:
		e.postInterim(g)
	case !e.takeEarly(g):
		e.postTranscript(g)
	}
	if len(e.waiting) > 0 {
		next := e.waiting[0]
		e.waiting = slices.Delete(e.waiting, 0, 1)
		e.ask(ctx, next)
	}
}

// postTranscript posts a transcript. A failure is reported and counts as nothing said, so that the turn still
// ends.
func (e *Ear) postTranscript(g transcription) {
	u := g.utterance
	if g.err != nil {
		e.fault(contract.Fault{Code: contract.NotTranscribed, Cause: g.err})
	}
	if g.closedPart || g.revision == u.partRevision {
		u.parts = append(u.parts, g.transcript.Text)
		return
	}
	if g.revision != u.revision {
		return
	}
	u.paused = &g.transcript.Text
	e.Post(turn.Transcribed{
		At:        turn.At(e.Clock()),
		Utterance: u.number,
		Revision:  g.revision,
		Transcript: e.withFeelings(u, turn.Transcript{
			Text:     join(append(slices.Clip(u.parts), g.transcript.Text)),
			Language: g.transcript.Language,
			Begin:    e.streamClock.At(u.begin),
			End:      e.streamClock.At(u.end),
		}),
	})
}

func join(parts []string) string {
	return strings.TrimSpace(strings.Join(parts, " "))
}
