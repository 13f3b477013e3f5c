package turn

import (
	"slices"

	"parley/appliance/language"
)

// waiting is what the user has said and what has not come to its end: its words
// are still to come, or they are not told yet because the assistant speaks, or
// they were told and have no answer. It is a value, as State is: nothing that
// an older one holds is changed.
type waiting struct {
	transcripts []expectedTranscript // of utterances that are over, in the order of the utterances
	heldBack    []Transcript         // said over the assistant, in order
	unanswered  bool                 // words that came late were told, and have no answer
}

// expectedTranscript is an utterance whose words come when the user already says the
// next: the guess of that revision, or of a later one.
type expectedTranscript struct{ utterance, revision int }

// expect notes that the words of an utterance are still to come.
func (w *waiting) expect(utterance, revision int) {
	w.transcripts = append(slices.Clip(w.transcripts), expectedTranscript{utterance, revision})
}

// arrived takes note of a guess; it reports whether its words were waited for.
func (w *waiting) arrived(utterance, revision int) bool {
	i := slices.IndexFunc(w.transcripts, func(x expectedTranscript) bool {
		return x.utterance == utterance && revision >= x.revision
	})
	if i < 0 {
		return false
	}
	w.transcripts = slices.Delete(slices.Clone(w.transcripts), i, i+1)
	return true
}

// hold keeps short speech over the assistant's until that is over.
func (w *waiting) hold(words Transcript) { w.heldBack = append(slices.Clip(w.heldBack), words) }

// release returns what was held, in order, and holds it no longer.
func (w *waiting) release() []Transcript {
	held := w.heldBack
	w.heldBack = nil
	return held
}

// onlyForAnswer reports whether there is nothing but an answer to wait for: all that
// was said is known.
func (w waiting) onlyForAnswer() bool { return w.unanswered && len(w.transcripts) == 0 }

// takeLateTranscript: these are the words of an utterance that was over before the user
// began the newest one. They are told before that; the answer is to both.
func (s *State) takeLateTranscript(out *effects, e Transcribed) {
	if !s.waiting.arrived(e.Utterance, e.Revision) {
		return
	}
	returns := s.isFalseInterruption(e.Utterance, e.Transcript)
	switch {
	case e.Transcript.Text == "":
	case s.talking():
		s.waiting.hold(e.Transcript)
	default:
		s.recordUser(out, e.Transcript)
		s.waiting.unanswered = s.waiting.unanswered || !returns
	}
	switch {
	case returns && s.utterance.open: // then what is said now decides
		s.interruption.utterance = s.utterance.number
	case returns:
		s.resumeReply(out)
	default:
		s.answerWaiting(out)
	}
}

// answerWaiting answers words that came late, once the user says no more.
func (s *State) answerWaiting(out *effects) {
	if s.waiting.onlyForAnswer() && !s.utterance.open && !s.talking() {
		s.answer(out, "")
	}
}

// releaseHeldBack: the playback is over; what was said meanwhile counts now. Nothing
// but backchannels needs no answer, unless they are one.
func (s *State) releaseHeldBack(out *effects) {
	asked := s.endedWithQuestion()
	for _, w := range s.waiting.release() {
		s.recordUser(out, w)
		s.waiting.unanswered = s.waiting.unanswered || asked || !backchannel(w)
	}
}

// backchannel reports whether words only say "go on".
func backchannel(w Transcript) bool { return language.Of(w.Language).Backchannel(w.Text) }

// endedWithQuestion reports whether the assistant ended with a question: then a "yes" is
// an answer.
func (s State) endedWithQuestion() bool {
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant && language.Question(s.history[n-1].Text)
}
