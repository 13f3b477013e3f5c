package reply

import (
	"strings"
	"unicode"

	"parley/appliance/chat/turn"
)

// maxReadOut is the longest tool answer, in bytes, that is read out as it is: some fifteen seconds.
const maxReadOut = 240

// wordless reports whether a tool's answer stands for one without text.
func wordless(answer string) bool { return answer == turn.FailedResult || answer == turn.EmptyResult }

// toolWords returns what the tools have answered since the user spoke, if it can be read out as it is,
// otherwise "".
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
	if len(words) > maxReadOut {
		return ""
	}
	return words
}

// readable reports whether a text consists of words, and not of data, markup or a list.
func readable(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsAny(s, "{}[]<>|=_\n\t\\") &&
		!strings.Contains(s, "://")
}
