package engines

import (
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/remote"
)

// FeelingsInPrompt returns a function that reports whether a language model gets the user's
// feelings as a line of its prompt. A custom language model of a client does not: it receives the
// scores.
func FeelingsInPrompt(c config.Expression) func(engine.LanguageModel) bool {
	return func(m engine.LanguageModel) bool {
		switch m.(type) {
		case *llama.Model:
			return c.Models == config.ForAll
		case *remote.ModelPool:
			return c.Models != config.ForNone
		}
		return false
	}
}
