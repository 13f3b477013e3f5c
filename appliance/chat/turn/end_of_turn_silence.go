package turn

import (
	"strings"
	"time"

	"parley/appliance/language"
)

// Silences of the semantic mode. An utterance that sounds and reads finished is answered after
// finishedSilence; with less, its transcript would not be known yet. A user who is going to go on is seldom
// silent for longer than openSilence: few of the pauses that people make within a sentence last 1.5 s, and
// the voice fades before it. If the words show that more must come, waiting longer costs nothing.
const (
	finishedSilence   = 350 * time.Millisecond
	openSilence       = 1800 * time.Millisecond
	unfinishedSilence = 3 * time.Second
	// A probability of surelyFinished or more is trusted. From there down to hardlyFinished the silence grows
	// linearly, then stays. At surelyUnfinished or less, the model confirms words that few sentences end
	// with.
	//
	// Of 222 recorded sentences, 59 in 100 reach surelyFinished at their end, and 20 do not reach
	// hardlyFinished. Of 45 that stop in the middle, without showing it in their words, 10 reach the first
	// and 21 do not reach the second. So the model alone can be trusted with neither.
	surelyFinished   = 0.9
	hardlyFinished   = 0.3
	surelyUnfinished = 0.1
)

// silenceUntilEnd returns how long the user may be silent before the turn ends. A turn that may end sooner
// than the config says ends when the first sound of its answer is ready: ending it earlier gains nothing, and
// a user who was only thinking may go on.
func (s State) silenceUntilEnd() time.Duration {
	asked := s.requiredSilence()
	if r := s.reply; r.phase == preparing && !r.stale && len(r.unsentSound) == 0 && r.fault == nil && !r.finished {
		return max(asked, s.settings.EndOfTurnSilence)
	}
	return asked
}

// requiredSilence returns how long the user has to be silent after what was said last.
func (s State) requiredSilence() time.Duration {
	u, config := s.utterance, s.settings.EndOfTurnSilence
	if !s.settings.Semantic {
		return config
	}
	if u.pause.short { // no transcript will come
		return config
	}
	if !u.transcribed { // the transcript may show that more must come; without it there is no answer anyway
		return max(config, openSilence)
	}
	sound := u.pause.requiredSilence(config)
	switch words := language.Of(u.transcript.Language); {
	case words.OnlyTakesFloor(u.transcript.Text): // "Hello." may be all
		return max(config, openSilence)
	case words.CannotEnd(u.transcript.Text):
		return unfinishedSilence
	case words.SeldomEnds(u.transcript.Text) || words.OpensClause(u.transcript.Text) && !s.endedWithQuestion():
		if u.pause.judged && u.pause.probability <= surelyUnfinished {
			return unfinishedSilence
		}
		return max(config, openSilence)
	case s.askedForGroups() && !isWholeSentence(u.transcript.Text):
		return max(config, openSilence)
	}
	return max(sound, u.likelyPause(config))
}

// askedForGroups reports whether the assistant has asked for something that people say in groups, such as a
// number or an address. The pause after each group is as long as after a sentence, and the sound of a group
// says nothing about the end.
func (s State) askedForGroups() bool {
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant && language.AsksForGroups(s.history[n-1].Text) &&
		(language.Question(s.history[n-1].Text) || asksPolitely(s.history[n-1].Text))
}

// asksPolitely reports whether a sentence asks without being a question: "Please tell me your address."
func asksPolitely(text string) bool {
	words := " " + language.Plain(text) + " "
	for _, w := range [...]string{
		" please ", " tell me ", " give me ", " spell ", " bitte ", " s il vous plait ", " por favor ", " per favore ",
		" alstublieft ",
	} {
		if strings.Contains(words, w) {
			return true
		}
	}
	return false
}

// longestGroup is the most words in a group. Anything longer is a sentence, which sounds finished when it is.
const longestGroup = 8

// isWholeSentence reports whether the text is an answer or a question of its own, not a group of a number or
// an address.
func isWholeSentence(text string) bool {
	return language.Question(text) || len(strings.Fields(text)) > longestGroup
}

// requiredSilence returns the silence that the sound before the pause asks for; the config's if the model has
// not judged it.
func (p pause) requiredSilence(config time.Duration) time.Duration {
	if !p.judged {
		return config
	}
	doubt := (surelyFinished - p.probability) / (surelyFinished - hardlyFinished)
	longest := max(config, openSilence)
	return finishedSilence + time.Duration(min(max(doubt, 0), 1)*float64(longest-finishedSilence))
}

// likelyPause returns the pause that the user may make again: a quarter longer than the longest one in this
// utterance, and at most the config's silence.
func (u utterance) likelyPause(config time.Duration) time.Duration {
	return min(config, u.longestPause*5/4)
}
