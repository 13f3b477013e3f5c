package ear

import (
	"context"
	"slices"
	"strings"

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
	revision int
	parts    []string // transcripts of the closed parts, in order
	paused   *string  // transcript of the open part up to the pause it is in
	cancel   context.CancelFunc
}

// guess is one transcription: asked for, and then answered.
type guess struct {
	of         *hearing
	revision   int
	part       bool // of a closed part: it stays
	midway     bool // of what was said so far, in the middle of it
	segment    engine.Segment
	transcript engine.Transcript
	err        error
}

// partEnded keeps a closed part's words; at a pause they are known already.
func (e *Ear) partEnded(ctx context.Context, s engine.Segment) {
	u := e.utterance
	if u.paused != nil {
		u.parts = append(u.parts, *u.paused)
		u.paused = nil
		return
	}
	e.ask(ctx, guess{of: u, part: true, segment: s})
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
	if e.awaiting {
		e.overheard.stop()
		e.waiting = append(e.waiting, g)
		return
	}
	urgency := engine.Speculative.Urgency()
	if g.of.over {
		urgency = engine.Live.Urgency()
	}
	cancel := e.transcribe(ctx, g, urgency)
	if !g.part {
		g.of.cancel = cancel
	}
}

// transcribe begins a transcription, which ends up in guesses.
func (e *Ear) transcribe(ctx context.Context, g guess, u *engine.Urgency) context.CancelFunc {
	e.awaiting = true
	ctx, cancel := context.WithTimeout(ctx, guessTimeout)
	e.Go(func() {
		defer cancel()
		defer func() { e.guesses <- g }() // of a panic too: somebody waits for it
		if len(g.segment.PCM) > 0 {
			g.transcript, g.err = e.Transcriber.Transcribe(ctx, g.segment.PCM, engine.TranscribeOptions{Urgency: u})
		}
	})
	return cancel
}

// guessed takes a finished transcription and begins the next.
func (e *Ear) guessed(ctx context.Context, g guess) {
	e.awaiting = false
	if g.midway {
		e.overheardSo(g)
	} else {
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
	if g.part {
		u.parts = append(u.parts, g.transcript.Text)
		return
	}
	if g.revision != u.revision {
		return
	}
	u.paused = &g.transcript.Text
	e.Post(turn.Guessed{At: turn.At(e.Clock()), Utterance: u.number, Revision: g.revision, Words: turn.Words{
		Text:     join(append(slices.Clip(u.parts), g.transcript.Text)),
		Language: g.transcript.Language,
		Begin:    e.time.At(u.begin),
		End:      e.time.At(g.segment.End),
	}})
}

func join(parts []string) string {
	return strings.TrimSpace(strings.Join(parts, " "))
}
