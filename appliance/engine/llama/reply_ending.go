package llama

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/appliance/engine"
)

// A small model ends its answers like the earlier ones. After an interruption the conversation
// holds a fragment of a sentence with a mark ("…"), and Qwen 1.5B ended its next answers like that:
// "The next train to Graz…" and no more. Without the mark it completes them, except where it
// repeats a broken sentence, which it breaks off at the same word.

// earlyTokens is how many tokens of a reply must not end in the middle of a sentence: users
// interrupt within a few words. A longer reply, perhaps a list or in a language without full stops,
// ends where it likes.
const earlyTokens = 24

// trimCutMark returns text without the mark of an interruption.
func trimCutMark(text string) string { return strings.TrimRight(text, "… ") }

// interrupted reports whether the user has interrupted the assistant in this conversation.
func interrupted(messages []engine.Message) bool {
	return slices.ContainsFunc(messages, func(m engine.Message) bool { return m.Interrupted })
}

// minHeardWords is how many words an interrupted answer needs to stay in the prompt. Fewer say
// nothing, and after several in a row ("I'm…") Qwen 1.5B answered only "I'm" too.
const minHeardWords = 3

// isFragment reports whether a message is an interrupted answer too short to say anything.
func isFragment(m engine.Message) bool {
	return m.Interrupted && m.Role == engine.Assistant && len(m.Calls) == 0 &&
		len(strings.Fields(trimCutMark(m.Content))) < minHeardWords
}

// endsSentence reports whether text ends with a complete sentence.
func endsSentence(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.So)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return unicode.Is(unicode.Sentence_Terminal, last)
}

// mayEnd reports whether the reply may end here. It must have a word and, after an interruption,
// end with a sentence. A grammar decides for itself.
func (r *request) mayEnd() bool {
	switch {
	case r.grammar != nil:
		return true
	case len(r.generated) == 0:
		return false
	}
	return !r.wholeSentences || len(r.generated) >= earlyTokens || endsSentence(r.text)
}

// excluding returns a copy of logits, which the library owns, that excludes one token.
func excluding(logits []float32, t Token) []float32 {
	logits = slices.Clone(logits)
	logits[t] = float32(math.Inf(-1))
	return logits
}
