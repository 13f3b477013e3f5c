package turn

import (
	"strings"
	"time"

	"parley/appliance/language"
)

// Silence of the semantic mode. What sounds finished, and reads so, is answered
// from finishedSilence on: less, and the words would not be known yet. Who is
// still to go on is seldom silent for longer than openSilence (of the pauses that
// people make within a sentence few last 1.5 s, and a voice fades before it), and
// where the words show that more must come, waiting longer for it costs nobody
// anything.
const (
	finishedSilence   = 350 * time.Millisecond
	openSilence       = 1800 * time.Millisecond
	unfinishedSilence = 3 * time.Second
	// From surelyFinished on the model is taken at its word; from there down to
	// hardlyFinished the silence grows evenly, and stays. surelyUnfinished is
	// where it bears out words that few end with.
	//
	// Of 222 recorded sentences 59 in 100 reach the first at their end, and 20 do
	// not reach the second; of 45 that stop within themselves and whose words do
	// not show it 10 and 21. So the model alone can neither be trusted with the
	// one nor with the other.
	surelyFinished   = 0.9
	hardlyFinished   = 0.3
	surelyUnfinished = 0.1
)

// silenceUntilEnd is how long the user is given to go on after what he said last.
// A turn that may be over sooner than the config says ends when the answer's
// first sound is there: until then nothing is won by holding it for over, and
// who was only thinking has gone on.
func (s State) silenceUntilEnd() time.Duration {
	asked := s.requiredSilence()
	if r := s.reply; r.phase == preparing && !r.stale && len(r.unsentSound) == 0 && r.fault == nil && !r.finished {
		return max(asked, s.settings.EndOfTurnSilence)
	}
	return asked
}

// requiredSilence is how long the user has to be silent after what he said last.
func (s State) requiredSilence() time.Duration {
	h, config := s.utterance, s.settings.EndOfTurnSilence
	if !s.settings.Semantic {
		return config
	}
	if h.pause.short { // no words will come
		return config
	}
	if !h.transcribed { // they may show that more must come; without them there is no answer anyway
		return max(config, openSilence)
	}
	sound := h.pause.requiredSilence(config)
	switch words := language.Of(h.transcript.Language); {
	case words.OnlyTakesFloor(h.transcript.Text): // "Hello." may be all
		return max(config, openSilence)
	case words.CannotEnd(h.transcript.Text):
		return unfinishedSilence
	case words.SeldomEnds(h.transcript.Text) || words.OpensClause(h.transcript.Text) && !s.endedWithQuestion():
		if h.pause.judged && h.pause.probability <= surelyUnfinished {
			return unfinishedSilence
		}
		return max(config, openSilence)
	case s.askedForGroups() && !isWholeSentence(h.transcript.Text):
		return max(config, openSilence)
	}
	return max(sound, h.likelyPause(config))
}

// askedForGroups reports whether the assistant has asked last for what people say
// in groups, with a pause behind each as long as one behind a sentence: a number, an
// address. How each of them sounds says nothing.
func (s State) askedForGroups() bool {
	n := len(s.history)
	return n > 0 && s.history[n-1].Role == Assistant && language.AsksForGroups(s.history[n-1].Text) &&
		(language.Question(s.history[n-1].Text) || asksPolitely(s.history[n-1].Text))
}

// asksPolitely reports whether a sentence asks without being a question: "Please
// tell me your address."
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

// longestGroup is how many words a group has at most: longer is a sentence, which
// sounds finished where it is.
const longestGroup = 8

// isWholeSentence reports whether words are no group of a number or an address, but an
// answer or a question of their own.
func isWholeSentence(text string) bool {
	return language.Question(text) || len(strings.Fields(text)) > longestGroup
}

// requiredSilence is the silence that the sound before a pause asks for; the
// config's where the model has not said.
func (p pause) requiredSilence(config time.Duration) time.Duration {
	if !p.judged {
		return config
	}
	doubt := (surelyFinished - p.probability) / (surelyFinished - hardlyFinished)
	longest := max(config, openSilence)
	return finishedSilence + time.Duration(min(max(doubt, 0), 1)*float64(longest-finishedSilence))
}

// likelyPause is a silence that who has gone on after a pause in this utterance may
// make again, a quarter longer: at most the config's.
func (h utterance) likelyPause(config time.Duration) time.Duration {
	return min(config, h.longestPause*5/4)
}
