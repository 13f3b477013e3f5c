package engines

import (
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/remote"
)

// TellsFeelings returns which language models get the user's feelings as a line of
// their prompt. A custom language model of a client gets none: it receives the scores.
func TellsFeelings(c config.Expression) func(engine.LanguageModel) bool {
	return func(m engine.LanguageModel) bool {
		switch m.(type) {
		case *llama.Model:
			return c.Models == config.ForAll
		case *remote.Model:
			return c.Models != config.ForNone
		}
		return false
	}
}
