package engines

import (
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
)

// Rules reports whether the settings require rules before the prompts of a model, and a check of
// its answers. Embedded models are small and need both.
func (e *Set) Rules(m engine.LanguageModel) (rules, check bool) {
	_, embedded := m.(*llama.Model)
	return applies(e.cfg.Answers.Rules, embedded), applies(e.cfg.Answers.Check, embedded)
}

// applies reports whether a setting of config.Answers holds for a model.
func applies(setting string, embedded bool) bool {
	return setting == config.ForAll || setting == config.ForEmbedded && embedded
}
