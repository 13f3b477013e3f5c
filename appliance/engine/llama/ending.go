package llama

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// A small model ends its answers as those before them end. Who has interrupted one
// has left a piece of a sentence in the conversation, with the mark of it ("…"),
// and Qwen 1.5B wrote its next ones like that: "The next train to Graz…", and no
// more. Without the mark it writes them to their end, but where it says a broken
// sentence once more, which it breaks off at the same word.

// earlyTokens is within how many tokens a reply that begins so is kept from ending in
// the middle of a sentence: who interrupts does so within a few words. Whatever is
// longer, a list perhaps, or of a language without full stops, ends as it likes.
const earlyTokens = 24

// trimCutMark is what was said before an interruption, without the mark of that.
func trimCutMark(said string) string { return strings.TrimRight(said, "… ") }

// interrupted tells whether the assistant was interrupted in a conversation.
func interrupted(messages []engine.Message) bool {
	return slices.ContainsFunc(messages, func(m engine.Message) bool { return m.Interrupted })
}

// minHeardWords is how many words of an answer were heard, at least, that was interrupted
// and is told of: fewer say nothing, and where several stand in a row ("I'm…") Qwen
// 1.5B answered "I'm" too, and the rest of it with nothing.
const minHeardWords = 3

// isFragment tells whether a message is the beginning of an answer that says nothing.
func isFragment(m engine.Message) bool {
	return m.Interrupted && m.Role == engine.Assistant && len(m.Calls) == 0 &&
		len(strings.Fields(trimCutMark(m.Content))) < minHeardWords
}

// endsSentence tells whether a text ends with a sentence.
func endsSentence(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.So)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.Is(unicode.Sentence_Terminal, last)
}

// mayEnd tells whether the reply may end here. One without a word is no answer, and
// one that stops in the middle of a sentence none either; what follows a grammar
// ends by it.
func (r *request) mayEnd() bool {
	switch {
	case r.grammar != nil:
		return true
	case len(r.generated) == 0:
		return false
	}
	return !r.wholeSentences || len(r.generated) >= earlyTokens || endsSentence(r.text)
}

// excluding is logits, which are the library's, with nothing for one token.
func excluding(logits []float32, t Token) []float32 {
	logits = slices.Clone(logits)
	logits[t] = float32(math.Inf(-1))
	return logits
}
