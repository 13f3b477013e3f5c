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

// hearing is an utterance: the one that the ear is at, or one that is over and
// whose words are still to come.
type hearing struct {
	number   int
	pausing  bool
	over     bool
	begin    int64 // sample at which its voice begins
	end      int64 // and at which it ends, at the newest pause
	revision int
	asked    int       // the newest revision that a guess was asked for
	parts    []string  // transcripts of the closed parts, in order
	paused   *string   // transcript of the open part up to the pause it is in
	keeping  int       // the revision whose guess becomes a closed part's words
	kept     bool      // PartEnded will ask for them
	closed   []float32 // the sound of the newest closed part, for the TurnEnd
	cancel   context.CancelFunc
	urgency  *engine.Urgency // of the newest guess asked for
	early    early
	draft    draft // of the newest transcript
	voice    Voice // what measures the feelings in it; nil: nobody
	felt     int64 // sample up to which that has heard it
}

// draft is what a transcript of a part leaves for later ones, which have more of
// its sound.
type draft struct {
	part int64 // sample at which its voice begins
	ids  engine.TranscriptTokens
}

// guess is one transcription: asked for, and then answered.
type guess struct {
	of         *hearing
	revision   int
	part       bool // of a closed part: it stays
	midway     bool // of what was said so far, in the middle of it
	early      bool // asked for before the pause was sure
	segment    engine.Segment
	transcript engine.Transcript
	err        error
}

// partEnded keeps a closed part's words; at a pause they are known already.
func (e *Ear) partEnded(ctx context.Context, s engine.Segment) {
	u := e.utterance
	if e.finishing.on {
		u.closed = s.PCM
	}
	e.goneOn()
	switch {
	case u.paused != nil:
		u.parts = append(u.parts, *u.paused)
		u.paused = nil
	case u.kept: // they are on their way
		u.kept = false
	default:
		e.ask(ctx, guess{of: u, part: true, segment: s})
	}
}

// keep holds on to the guess at the pause that is over, if it is still to come:
// its words are those of the part that ends there.
func (e *Ear) keep() {
	u := e.utterance
	if u.paused != nil || u.asked != u.revision {
		return
	}
	u.keeping, u.kept, u.cancel = u.revision, true, nil
	for i := range e.waiting {
		if g := &e.waiting[i]; g.of == u && g.revision == u.revision {
			g.part = true
		}
	}
}

// forget gives up the guesses that nobody needs any more: those of an utterance
// that goes on. What was said to its end is transcribed, however late.
func (e *Ear) forget() {
	u := e.utterance
	if u.over {
		return
	}
	if u.cancel != nil {
		u.cancel()
	}
	e.waiting = slices.DeleteFunc(e.waiting, func(g guess) bool { return g.of == u && !g.part })
}

// ask has a piece transcribed, after those asked for before.
func (e *Ear) ask(ctx context.Context, g guess) {
	if !g.part {
		g.of.asked = g.revision
	}
	if e.awaiting {
		e.overheard.stop()
		e.waiting = append(e.waiting, g)
		return
	}
	// A guess is needed when the turn is over; until then nobody misses it.
	urgency := engine.NewUrgency(engine.Speculative,
		time.Now().Add(e.settings.EndOfTurnSilence-engine.DefaultSegmentOptions().ShortPause))
	if g.of.over {
		urgency = engine.Live.Urgency()
	}
	cancel := e.transcribe(ctx, g, urgency)
	if !g.part {
		g.of.cancel, g.of.urgency = cancel, urgency
	}
}

// transcribe begins a transcription, which ends up in guesses.
func (e *Ear) transcribe(ctx context.Context, g guess, u *engine.Urgency) context.CancelFunc {
	e.awaiting = true
	options := engine.TranscribeOptions{Urgency: u}
	if d := g.of.draft; d.part == g.segment.Begin {
		options.SpeculativeTokens = d.ids
	}
	ctx, cancel := context.WithTimeout(ctx, guessTimeout)
	e.Go(func() {
		defer cancel()
		defer func() { e.guesses <- g }() // of a panic too: somebody waits for it
		if len(g.segment.PCM) > 0 {
			g.transcript, g.err = e.Transcriber.Transcribe(ctx, g.segment.PCM, options)
		}
	})
	return cancel
}

// guessed takes a finished transcription and begins the next.
func (e *Ear) guessed(ctx context.Context, g guess) {
	e.awaiting = false
	if g.err == nil {
		g.of.draft = draft{g.segment.Begin, g.transcript.Tokens}
	}
	switch {
	case g.midway:
		e.overheardSo(g)
	case !e.heardEarly(g):
		e.understood(g)
	}
	if len(e.waiting) > 0 {
		next := e.waiting[0]
		e.waiting = slices.Delete(e.waiting, 0, 1)
		e.ask(ctx, next)
	}
}

// understood passes on the words. What could not be transcribed is told and
// counts as nothing said, so that the turn ends all the same.
func (e *Ear) understood(g guess) {
	u := g.of
	if g.err != nil {
		e.fault(contract.Fault{Code: contract.NotTranscribed, Cause: g.err})
	}
	if g.part || g.revision == u.keeping {
		u.parts = append(u.parts, g.transcript.Text)
		return
	}
	if g.revision != u.revision {
		return
	}
	u.paused = &g.transcript.Text
	e.Post(turn.Guessed{
		At:        turn.At(e.Clock()),
		Utterance: u.number,
		Revision:  g.revision,
		Words: e.express(u, turn.Words{
			Text:     join(append(slices.Clip(u.parts), g.transcript.Text)),
			Language: g.transcript.Language,
			Begin:    e.time.At(u.begin),
			End:      e.time.At(u.end),
		}),
	})
}

func join(parts []string) string {
	return strings.TrimSpace(strings.Join(parts, " "))
}
