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
	upTo    int64          // sample to which its sound goes; 0: there is none
	started time.Duration  // when it was asked for
	result  *transcription // once it is known, and the pause still not sure
}

// transcribeEarly asks for the guess at a pause that will most likely come.
func (e *Ear) transcribeEarly(ctx context.Context, s engine.Segment) {
	e.dropEarly()
	u := e.utterance
	u.early = early{upTo: e.segmenter.Position(), started: e.Clock()}
	e.ask(ctx, transcription{
		utterance: u,
		revision:  u.revision,
		early:     true,
		segment:   s,
	})
}

// dropEarly gives up a guess that was asked for early, for the voice did go on: it
// is a look in the middle now, and gives way as one.
func (e *Ear) dropEarly() {
	u := e.utterance
	was := u.early
	if was.upTo == 0 {
		return
	}
	u.early = early{}
	u.revision++
	e.interim.started = was.started
	if was.result != nil {
		e.postInterim(*was.result)
		return
	}
	waiting := len(e.waiting)
	e.waiting = slices.DeleteFunc(e.waiting, func(g transcription) bool { return g.utterance == u && !g.closedPart })
	if len(e.waiting) == waiting { // it is under way
		u.urgency.Set(engine.Prefetch, time.Time{})
		e.interim.cancel, u.cancel = u.cancel, nil
	}
}

// hasEarly reports whether the guess at a pause was asked for before, of a
// sound that holds the voice to its end.
func (e *Ear) hasEarly(s engine.Segment) bool {
	if was := e.utterance.early; was.upTo == 0 || s.End <= was.upTo {
		return was.upTo != 0
	}
	e.dropEarly()
	return false
}

// postEarly passes on the words that were known before the pause was sure.
func (e *Ear) postEarly() {
	u := e.utterance
	heard := u.early.result
	u.early = early{}
	if heard != nil {
		e.postTranscript(*heard)
	}
}

// takeEarly takes the words of a guess that was asked for early, if they are
// not for now: the pause is not sure yet, or there was none.
func (e *Ear) takeEarly(g transcription) bool {
	u := g.utterance
	switch {
	case !g.early || g.closedPart || g.revision == u.partRevision:
		return false
	case g.revision != u.revision:
		e.postInterim(g)
		return true
	case u.early.upTo == 0: // the pause has come
		return false
	case g.err != nil: // then the pause asks again
		u.early = early{}
		return true
	}
	u.early.result = &g
	return true
}
