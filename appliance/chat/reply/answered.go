package reply

import (
	"strings"
	"unicode"

	"parley/appliance/chat/turn"
)

// certain is by how much likelier an answer begins with a word where it is known that
// it should: more than any model is sure of another. The box's rules have a small
// model say that it does not know of all that the prompt does not tell: of twelve
// answers of tools, such as "Booked.", it threw eight away.
const certain = 8

// mostRead is how many bytes of what tools answered are read out as they are: some
// fifteen seconds.
const mostRead = 240

// toolBegins makes not knowing less likely where a tool has just answered: then it is
// known what to say.
func (f *facts) toolBegins(c turn.Conversation) map[string]float64 {
	n := len(c.History)
	if f == nil || n == 0 || c.History[n-1].Role != turn.ToolResult || wordless(c.History[n-1].Text) {
		return nil
	}
	return map[string]float64{firstWord(f.Unknown): -certain}
}

// wordless reports whether a tool's answer is what stands in for one without words.
func wordless(answer string) bool { return answer == turn.NoAnswer || answer == turn.NoWords }

// toolWords is what the tools have answered since the user spoke, where it can be
// read out as it is; else empty.
func toolWords(history []turn.Entry) string {
	var all []string
	for i := len(history) - 1; i >= 0 && history[i].Role != turn.User; i-- {
		if history[i].Role != turn.ToolResult {
			continue
		}
		words := strings.TrimSpace(history[i].Text)
		if words == "" || wordless(words) || !readable(words) {
			return ""
		}
		if !strings.ContainsAny(words[len(words)-1:], ".!?") {
			words += "."
		}
		all = append([]string{words}, all...)
	}
	words := strings.Join(all, " ")
	if len(words) > mostRead {
		return ""
	}
	return words
}

// readable reports whether a text is written to be read out: in words, and not as
// data, markup or a list.
func readable(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsAny(s, "{}[]<>|=_\n\t\\") &&
		!strings.Contains(s, "://")
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
