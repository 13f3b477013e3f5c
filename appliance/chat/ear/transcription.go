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

// utterance is an utterance: the one that the ear is at, or one that is over and
// whose words are still to come.
type utterance struct {
	number       int
	pausing      bool
	over         bool
	begin        int64 // sample at which its voice begins
	end          int64 // and at which it ends, at the newest pause
	revision     int
	asked        int       // the newest revision that a guess was asked for
	parts        []string  // transcripts of the closed parts, in order
	paused       *string   // transcript of the open part up to the pause it is in
	partRevision int       // the revision whose guess becomes a closed part's words
	partPending  bool      // PartEnded will ask for them
	closed       []float32 // the sound of the newest closed part, for the TurnEnd
	cancel       context.CancelFunc
	urgency      *engine.Urgency // of the newest guess asked for
	early        early
	speculative  speculativeTranscript // of the newest transcript
	voice        UtteranceScorer       // what measures the feelings in it; nil: nobody
	voiceUpTo    int64                 // sample up to which that has heard it
}

// speculativeTranscript is what a transcript of a part leaves for later ones, which have more of
// its sound.
type speculativeTranscript struct {
	part   int64 // sample at which its voice begins
	tokens engine.TranscriptTokens
}

// transcription is one transcription: asked for, and then answered.
type transcription struct {
	utterance  *utterance
	revision   int
	closedPart bool // of a closed part: it stays
	interim    bool // of what was said so far, in the middle of it
	early      bool // asked for before the pause was sure
	segment    engine.Segment
	transcript engine.Transcript
	err        error
}

// partEnded keeps a closed part's words; at a pause they are known already.
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
	case u.partPending: // they are on their way
		u.partPending = false
	default:
		e.ask(ctx, transcription{utterance: u, closedPart: true, segment: s})
	}
}

// keepPauseTranscript holds on to the guess at the pause that is over, if it is still to come:
// its words are those of the part that ends there.
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

// cancelUnneeded gives up the guesses that nobody needs any more: those of an utterance
// that goes on. What was said to its end is transcribed, however late.
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

// ask has a piece transcribed, after those asked for before.
func (e *Ear) ask(ctx context.Context, g transcription) {
	if !g.closedPart {
		g.utterance.asked = g.revision
	}
	if e.transcribing {
		e.interim.stop()
		e.waiting = append(e.waiting, g)
		return
	}
	// A guess is needed when the turn is over; until then nobody misses it.
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

// transcribe begins a transcription, which ends up in guesses.
func (e *Ear) transcribe(ctx context.Context, g transcription, u *engine.Urgency) context.CancelFunc {
	e.transcribing = true
	options := engine.TranscribeOptions{Urgency: u}
	if d := g.utterance.speculative; d.part == g.segment.Begin {
		options.SpeculativeTokens = d.tokens
	}
	ctx, cancel := context.WithTimeout(ctx, transcribeTimeout)
	e.Go(func() {
		defer cancel()
		defer func() { e.transcribed <- g }() // of a panic too: somebody waits for it
		if len(g.segment.PCM) > 0 {
			g.transcript, g.err = e.Transcriber.Transcribe(ctx, g.segment.PCM, options)
		}
	})
	return cancel
}

// takeTranscription takes a finished transcription and begins the next.
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

// postTranscript passes on the words. What could not be transcribed is told and
// counts as nothing said, so that the turn ends all the same.
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
