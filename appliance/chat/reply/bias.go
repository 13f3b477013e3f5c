package reply

import (
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/language"
)

const (
	// strongBias is by how much likelier, in the natural logarithm, an answer begins with
	// a word where it is known that it should: more than any model is sure of another.
	strongBias = 8
	// yesBias is by how much less likely it begins with yes where the prompt has
	// facts: small models say yes to most questions.
	yesBias = 1.3
)

// firstDue makes answers more or less likely to begin with some words.
func firstWordBias(c turn.Conversation) map[string]float64 {
	n := len(c.History)
	if !c.CheckAnswers || n == 0 {
		return nil
	}
	out := map[string]float64{}
	if c.Factual {
		for _, word := range language.Of(c.Language).Yes() {
			out[word] = -yesBias
		}
	}
	// The box's rules have a small model say that it does not know of all that the
	// prompt does not tell, also where a tool has just told it.
	if last := c.History[n-1]; last.Role == turn.ToolResult && !wordless(last.Text) {
		unknown, _, _ := strings.Cut(language.Of(c.Language).Unknown(), " ")
		out[unknown] = -strongBias
	}
	return out
}

// toolAnswered reports whether a tool has answered since the user spoke.
func toolAnswered(history []turn.Entry) bool {
	for i := len(history) - 1; i >= 0 && history[i].Role != turn.User; i-- {
		if history[i].Role == turn.ToolResult {
			return true
		}
	}
	return false
}
