package chat

import (
	"parley/appliance/chat/ear"
	"parley/appliance/contract"
)

// Expression measures feelings, in voices and in texts.
type Expression interface {
	// NewVoice returns what measures an utterance.
	NewVoice() ear.Voice
	// Text scores what is written, or is to be said.
	Text(text string) contract.EmotionScores
}

// newVoice and feelings are the two halves of a host's Expression; nil where it
// has none.
func (h *Host) newVoice() func() ear.Voice {
	if h.Expression == nil {
		return nil
	}
	return h.Expression.NewVoice
}

func (h *Host) feelings() func(text string) contract.EmotionScores {
	if h.Expression == nil {
		return nil
	}
	return h.Expression.Text
}
