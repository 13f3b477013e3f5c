package appliance

import (
	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engine/llama"
	"parley/appliance/engine/remote"
	"parley/appliance/expression"
)

// feelings measures them for chats.
type feelings struct{ *expression.Meter }

// NewVoice returns what measures an utterance.
func (f feelings) NewVoice() chat.Voice { return feltVoice{f.NewSound()} }

// feltVoice measures an utterance of a chat.
type feltVoice struct{ *expression.Sound }

// Tone judges what was heard so far.
func (v feltVoice) Tone() chat.Tone { return v.Sound.Tone() }

// openExpression returns what measures feelings; nil where the settings want
// none measured.
func openExpression(c config.Expression) (chat.Expression, error) {
	if !c.Measured {
		return nil, nil
	}
	m, err := expression.New()
	if err != nil {
		return nil, err
	}
	return feelings{m}, nil
}

// tellsFeelings says which language models are told of feelings in a line. Those
// that clients bring get the scores themselves, and no line.
func tellsFeelings(c config.Expression) func(engine.LanguageModel) bool {
	return func(m engine.LanguageModel) bool {
		switch m.(type) {
		case *llama.Model:
			return c.Told == config.ForAll
		case *remote.Model:
			return c.Told != config.ForNone
		}
		return false
	}
}
