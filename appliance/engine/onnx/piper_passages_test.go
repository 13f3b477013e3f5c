package onnx

import (
	"errors"
	"testing"

	"parley/appliance/engine"
)

// Each passage of the gate lets a step of the language model go before the next, and each run of
// the earlier stages computes the surroundings again. The first sound of a short text comes in one
// passage, that of a long one in two; a whole sentence takes few.
func TestAVoicePassesTheGateRarely(t *testing.T) {
	p := openVoice(t, openRuntime(t), "voice-joe")
	passages := 0
	p.gate.Observe(func(engine.Passage) { passages++ })
	defer p.gate.Observe(func(engine.Passage) {}) // other tests use it afterwards
	enough := errors.New("the first sound is there")
	for _, c := range []struct {
		text       string
		first, all int // passages at most
	}{
		{"Good morning.", 1, 2},
		{"The museum opens at", 1, 4},
		{"Sure, I can help you with that today.", 1, 5},
		{oddTexts()[5], 2, 16},
	} {
		passages = 0
		if err := p.Speak(t.Context(), c.text, engine.SpeakOptions{}, func(engine.Sound) error {
			return enough
		}); err != enough {
			t.Fatal(err)
		}
		if passages > c.first {
			t.Errorf("%.20q: the first sound passes the gate %d times, at most %d are needed", c.text, passages,
				c.first)
		}
		passages = 0
		say(t, p, c.text, engine.SpeakOptions{})
		if passages > c.all {
			t.Errorf("%.20q: all of it passes the gate %d times, at most %d are needed", c.text, passages, c.all)
		}
	}
}
