package turn

import (
	"slices"

	"parley/appliance/language"
)

// pendingSpeech holds speech of the user that is not finished with: its transcript is still to come, or it is held
// back because the assistant speaks, or it has no answer yet. It is a value, as State is: an older copy never
// changes.
type pendingSpeech struct {
	expected   []expectedTranscript // of utterances that are over, in order
	heldBack   []Transcript         // said over the assistant, in order
	unanswered bool                 // late speech was recorded and has no answer
}

// expectedTranscript is an utterance that was over before its transcript came. It expects the transcript of
// that revision or a later one.
type expectedTranscript struct{ utterance, revision int }

// expect notes that the transcript of an utterance is still to come.
func (p *pendingSpeech) expect(utterance, revision int) {
	p.expected = append(slices.Clip(p.expected), expectedTranscript{utterance, revision})
}

// arrived notes a transcript and reports whether it was expected.
func (p *pendingSpeech) arrived(utterance, revision int) bool {
	i := slices.IndexFunc(p.expected, func(x expectedTranscript) bool {
		return x.utterance == utterance && revision >= x.revision
	})
	if i < 0 {
		return false
	}
	p.expected = slices.Delete(slices.Clone(p.expected), i, i+1)
	return true
}

// hold holds back short speech over the assistant until the assistant is silent.
func (p *pendingSpeech) hold(words Transcript) { p.heldBack = append(slices.Clip(p.heldBack), words) }

// release returns the speech that was held back, in order, and clears it.
func (p *pendingSpeech) release() []Transcript {
	held := p.heldBack
	p.heldBack = nil
	return held
}

// onlyForAnswer reports whether all transcripts have come and only the answer is missing.
func (p pendingSpeech) onlyForAnswer() bool { return p.unanswered && len(p.expected) == 0 }

// takeLateTranscript takes the transcript of an utterance that was over before the newest one began. It is
// recorded before the newest one, and the answer is to both.
func (s *State) takeLateTranscript(out *effects, e Transcribed) {
	if !s.pendingSpeech.arrived(e.Utterance, e.Revision) {
		return
	}
	falseInterruption := s.isFalseInterruption(e.Utterance, e.Transcript)
	switch {
	case e.Transcript.Text == "":
	case s.talking():
		s.pendingSpeech.hold(e.Transcript)
	default:
		s.recordUser(out, e.Transcript)
		s.pendingSpeech.unanswered = s.pendingSpeech.unanswered || !falseInterruption
	}
	switch {
	case falseInterruption && s.utterance.open: // the newest utterance decides
		s.interruption.utterance = s.utterance.number
	case falseInterruption:
		s.resumeReply(out)
	default:
		s.answerWaiting(out)
	}
}

// answerWaiting answers late speech as soon as the user says no more.
func (s *State) answerWaiting(out *effects) {
	if s.pendingSpeech.onlyForAnswer() && !s.utterance.open && !s.talking() {
		s.answer(out, "")
	}
}

// releaseHeldBack records what was said during the playback. Backchannels need no answer, unless the
// assistant had asked a question.
func (s *State) releaseHeldBack(out *effects) {
	asked := s.endedWithQuestion()
	for _, w := range s.pendingSpeech.release() {
		s.recordUser(out, w)
		s.pendingSpeech.unanswered = s.pendingSpeech.unanswered || asked || !backchannel(w)
	}
}

// backchannel reports whether a transcript only says "go on".
func backchannel(w Transcript) bool { return language.Of(w.Language).Backchannel(w.Text) }

// endedWithQuestion reports whether the assistant ended with a question, to which "yes" is an answer.
func (s State) endedWithQuestion() bool {
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant && language.Question(s.history[n-1].Text)
}
