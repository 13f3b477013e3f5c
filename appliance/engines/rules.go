package engines

import (
	"parley/appliance/chat"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
)

// Rules are what the box adds for a model, by its settings: embedded models are
// small ones, and need them.
func (e *Set) Rules(m engine.LanguageModel) turn.Rules {
	_, embedded := m.(*llama.Model)
	var r turn.Rules
	if applies(e.cfg.Answers.Rules, embedded) {
		r.Factual, r.Persona = chat.FactRules, chat.PersonaRules
	}
	r.CheckAnswers = applies(e.cfg.Answers.Check, embedded)
	return r
}

// applies tells whether a setting of config.Answers holds for a model.
func applies(setting string, embedded bool) bool {
	return setting == config.ForAll || setting == config.ForEmbedded && embedded
}
