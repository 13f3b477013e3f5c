package ear

import (
	"context"
	"slices"
	"time"

	"parley/appliance/engine"
)

// early is the transcription at a pause that is not certain yet: the voice has fallen silent, but the
// detector has not reported silence for long enough. A slow machine needs the head start.
type early struct {
	upTo    int64          // sample up to which it has the sound; 0: there is none
	started time.Duration  // when it was requested
	result  *transcription // set once it is finished while the pause is not certain
}

// transcribeEarly asks for the transcript of a pause that will most likely come.
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

// dropEarly drops the early transcription because the voice went on. It becomes an interim transcription,
// with the urgency of one.
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

// hasEarly reports whether the transcript of a pause was requested early, with sound that holds the voice to
// its end.
func (e *Ear) hasEarly(s engine.Segment) bool {
	if was := e.utterance.early; was.upTo == 0 || s.End <= was.upTo {
		return was.upTo != 0
	}
	e.dropEarly()
	return false
}

// postEarly posts the transcript that was finished before the pause was certain.
func (e *Ear) postEarly() {
	u := e.utterance
	heard := u.early.result
	u.early = early{}
	if heard != nil {
		e.postTranscript(*heard)
	}
}

// takeEarly takes the result of an early transcription unless it is to be posted now. It returns true if the
// pause is not certain yet, or if there was none.
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
	case g.err != nil: // the pause asks again
		u.early = early{}
		return true
	}
	u.early.result = &g
	return true
}
