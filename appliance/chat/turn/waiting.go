package turn

import (
	"slices"
	"strings"
)

// waiting is what the user has said and what has not come to its end: its words
// are still to come, or they are not told yet because the assistant speaks, or
// they were told and have no answer. It is a value, as State is: nothing that
// an older one holds is changed.
type waiting struct {
	transcripts []expected // of utterances that are over, in the order of the utterances
	untold      []Words    // said over the assistant, in order
	unanswered  bool       // words that came late were told, and have no answer
}

// expected is an utterance whose words come when the user already says the
// next: the guess of that revision, or of a later one.
type expected struct{ utterance, revision int }

// expect notes that the words of an utterance are still to come.
func (w *waiting) expect(utterance, revision int) {
	w.transcripts = append(slices.Clip(w.transcripts), expected{utterance, revision})
}

// came takes note of a guess; it reports whether its words were waited for.
func (w *waiting) came(utterance, revision int) bool {
	i := slices.IndexFunc(w.transcripts, func(x expected) bool { return x.utterance == utterance && revision >= x.revision })
	if i < 0 {
		return false
	}
	w.transcripts = slices.Delete(slices.Clone(w.transcripts), i, i+1)
	return true
}

// hold keeps short speech over the assistant's until that is over.
func (w *waiting) hold(words Words) { w.untold = append(slices.Clip(w.untold), words) }

// release returns what was held, in order, and holds it no longer.
func (w *waiting) release() []Words {
	held := w.untold
	w.untold = nil
	return held
}

// forAssistant reports whether something waits for the assistant to be silent.
func (w waiting) forAssistant() bool { return len(w.untold) > 0 || w.unanswered }

// forAnswer reports whether there is nothing but an answer to wait for: all that
// was said is known.
func (w waiting) forAnswer() bool { return w.unanswered && len(w.transcripts) == 0 }

// cameLate: these are the words of an utterance that was over before the user
// began the newest one. They are told before that; the answer is to both.
func (s *State) cameLate(out *effects, e Guessed) {
	if !s.waiting.came(e.Utterance, e.Revision) {
		return
	}
	switch {
	case e.Words.Text == "":
	case s.talking():
		s.waiting.hold(e.Words)
	default:
		s.say(out, e.Words)
		s.waiting.unanswered = true
	}
	s.answerWaiting(out)
}

// answerWaiting answers words that came late, once the user says no more.
func (s *State) answerWaiting(out *effects) {
	if s.waiting.forAnswer() && !s.heard.open && !s.talking() {
		s.answer(out, "")
	}
}

// answerUntold: the playback is over; what was said meanwhile counts now.
func (s *State) answerUntold(out *effects) {
	answer := s.endedWithQuestion() || s.waiting.unanswered
	for _, w := range s.waiting.release() {
		s.say(out, w)
		answer = answer || !backchannel(w.Text)
	}
	if answer {
		s.answer(out, "")
	}
}

// endedWithQuestion reports whether the assistant ended with a question: then a "yes" is
// an answer.
func (s State) endedWithQuestion() bool {
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant && strings.HasSuffix(s.history[n-1].Text, "?")
}

// backchannels are the sounds by which a listener says "go on".
var backchannels = []string{
	"mm", "mhm", "mm hm", "mm hmm", "mmhmm", "hm", "hmm", "uh huh", "aha", "ah", "oh", "okay", "ok",
	"right", "yeah", "yes", "yep", "yup", "sure", "i see", "got it", "good", "great", "cool",
}

// backchannel reports whether text is nothing but such sounds.
func backchannel(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < 'a' || r > 'z'
	})
	for len(words) > 0 {
		n := leadingBackchannel(words)
		if n == 0 {
			return false
		}
		words = words[n:]
	}
	return true
}

func leadingBackchannel(words []string) int {
	for n := min(2, len(words)); n > 0; n-- {
		phrase := strings.Join(words[:n], " ")
		for _, b := range backchannels {
			if phrase == b {
				return n
			}
		}
	}
	return 0
}
