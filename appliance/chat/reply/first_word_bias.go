package reply

import (
	"strings"

	"parley/appliance/chat/turn"
	"parley/appliance/language"
)

const (
	// strongBias is the bias, as a natural logarithm, for a first word that is known to be right or wrong. It
	// exceeds any model's confidence.
	strongBias = 8
	// yesBias makes yes a less likely first word if the prompt states facts, because small models say yes to
	// most questions.
	yesBias = 1.3
)

// firstWordBias returns the biases of the first words of an answer.
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
	// The box's rules have a small model say that it does not know what the prompt does not tell, even if a
	// tool has just told it.
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
