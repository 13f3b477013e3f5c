package turn

import (
	"slices"
	"strings"
)

// cameLate: these are the words of an utterance that was over before the user
// began the newest one. They are said before that; the answer is to both.
func (s *State) cameLate(out *effects, e Guessed) {
	i := slices.IndexFunc(s.late, func(l late) bool { return l.utterance == e.Utterance && e.Revision >= l.revision })
	if i < 0 {
		return
	}
	s.late = slices.Delete(slices.Clone(s.late), i, i+1)
	switch {
	case e.Words.Text == "":
	case s.talking():
		s.holdBack(e.Words)
	default:
		s.say(out, e.Words)
		s.owed = true
	}
	s.answerOwed(out)
}

// answerOwed answers words that came late, once the user says no more.
func (s *State) answerOwed(out *effects) {
	if s.owed && !s.heard.open && len(s.late) == 0 && !s.talking() {
		s.answer(out, "")
	}
}

// holdBack keeps short speech over the assistant's until that is over.
func (s *State) holdBack(w Words) {
	s.heldBack = append(slices.Clip(s.heldBack), w)
}

// answerHeldBack: the playback is over; what was said meanwhile counts now.
func (s *State) answerHeldBack(out *effects) {
	words := s.heldBack
	s.heldBack = nil
	answer := s.asked() || s.owed
	for _, w := range words {
		s.say(out, w)
		answer = answer || !backchannel(w.Text)
	}
	if answer {
		s.answer(out, "")
	}
}

// asked reports whether the assistant ended with a question: then a "yes" is
// an answer.
func (s State) asked() bool {
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
