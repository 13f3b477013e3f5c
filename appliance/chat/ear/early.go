package ear

import (
	"context"
	"slices"
	"time"

	"parley/appliance/engine"
)

// early is the guess at a pause that is not sure yet: the voice has fallen silent,
// and the detector has not let go of it for long enough. On a slow machine the
// words are needed the sooner for it.
type early struct {
	to    int64         // sample to which its sound goes; 0: there is none
	begun time.Duration // when it was asked for
	heard *guess        // once it is known, and the pause still not sure
}

// guessEarly asks for the guess at a pause that will most likely come.
func (e *Ear) guessEarly(ctx context.Context, s engine.Segment) {
	e.goneOn()
	u := e.utterance
	u.early = early{to: e.segmenter.Position(), begun: e.Clock()}
	e.ask(ctx, guess{
		of:       u,
		revision: u.revision,
		early:    true,
		segment:  s,
	})
}

// goneOn gives up a guess that was asked for early, for the voice did go on: it
// is a look in the middle now, and gives way as one.
func (e *Ear) goneOn() {
	u := e.utterance
	was := u.early
	if was.to == 0 {
		return
	}
	u.early = early{}
	u.revision++
	e.overheard.begun = was.begun
	if was.heard != nil {
		e.overheardSo(*was.heard)
		return
	}
	waiting := len(e.waiting)
	e.waiting = slices.DeleteFunc(e.waiting, func(g guess) bool { return g.of == u && !g.part })
	if len(e.waiting) == waiting { // it is under way
		u.urgency.Set(engine.Prefetch, time.Time{})
		e.overheard.cancel, u.cancel = u.cancel, nil
	}
}

// guessedEarly reports whether the guess at a pause was asked for before, of a
// sound that holds the voice to its end.
func (e *Ear) guessedEarly(s engine.Segment) bool {
	if was := e.utterance.early; was.to == 0 || s.End <= was.to {
		return was.to != 0
	}
	e.goneOn()
	return false
}

// tellEarly passes on the words that were known before the pause was sure.
func (e *Ear) tellEarly() {
	u := e.utterance
	heard := u.early.heard
	u.early = early{}
	if heard != nil {
		e.understood(*heard)
	}
}

// heardEarly takes the words of a guess that was asked for early, if they are
// not for now: the pause is not sure yet, or there was none.
func (e *Ear) heardEarly(g guess) bool {
	u := g.of
	switch {
	case !g.early || g.part || g.revision == u.keeping:
		return false
	case g.revision != u.revision:
		e.overheardSo(g)
		return true
	case u.early.to == 0: // the pause has come
		return false
	case g.err != nil: // then the pause asks again
		u.early = early{}
		return true
	}
	u.early.heard = &g
	return true
}
