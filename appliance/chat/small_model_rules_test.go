package chat

import (
	"strings"
	"testing"

	"parley/appliance/chat/turn"
	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/engine"
)

// A config's prompt, or a client's, gets the rules of the model that answers it, unless the config wants its
// prompt to stand alone.
func TestThePromptGetsTheRulesOfItsModel(t *testing.T) {
	small, large := newFakes(), newFakes()
	rules := func(m engine.LanguageModel) turn.Rules {
		if m == engine.LanguageModel(small) {
			return turn.Rules{Factual: "Be brief.", CheckAnswers: true}
		}
		return turn.Rules{}
	}
	p := Parts{Defaults: DefaultSettings(), Rules: rules}
	prompt := func(c contract.ReturnConfig, m engine.LanguageModel) turn.Settings { return p.Settings(c, m) }
	c := config(t, `{"name":"n","evi_version":"3","voice":{"name":"joe"},"prompt":{"text":"Open at `+
		`ten."},"examples":[{"user":"When?","assistant":"At ten."}]}`)
	if s := prompt(c, small); s.Rules.Factual != "Be brief." || !s.CustomPrompt || len(s.Examples) != 1 {
		t.Errorf("with the small model: %+v", s)
	}
	if s := prompt(c, large); s.Rules != (turn.Rules{}) || !s.CustomPrompt {
		t.Errorf("with the large one: %+v", s.Rules)
	}
	off := false
	c.Prompt.PromptExpansion = &contract.PromptExpansion{Enabled: &off}
	if s := prompt(c, small); s.Rules.Factual != "" || !s.Rules.CheckAnswers {
		t.Errorf("a prompt that wants to stand alone: %+v", s.Rules)
	}
	c.Prompt = nil
	if s := prompt(c, small); s.CustomPrompt || s.SystemPrompt != DefaultPrompt {
		t.Errorf("without a prompt: %q", s.SystemPrompt)
	}
}

// A client's prompt without a config gets the rules of the box's model, which reads both.
func TestAPromptAtConnectGetsTheRules(t *testing.T) {
	f := newFakes()
	h := hostOf(f, func(p *Parts) {
		p.Rules = func(engine.LanguageModel) turn.Rules { return turn.Rules{Factual: "Be brief."} }
	})
	defer h.Stop(t.Context())
	prompt := "Open at ten."
	o := connection.Opening{Account: "a",
		Settings: contract.ConnectSettings{SessionSettings: contract.SessionSettings{SystemPrompt: &prompt}}}
	got, err := h.setUp(t.Context(), o)
	if err != nil || got.settings.Rules.Factual != "Be brief." || !got.settings.CustomPrompt {
		t.Fatalf("%+v, %v", got.settings, err)
	}
	if got, err = h.setUp(t.Context(), connection.Opening{Account: "a"}); err != nil || got.settings.CustomPrompt {
		t.Errorf("without a prompt: %+v, %v", got.settings, err)
	}
}

// The rules are the same in all chats, and short enough for a box to read them in a few seconds.
func TestTheRulesAreConstantAndShort(t *testing.T) {
	for _, rules := range [...]string{factRules, personaRules} {
		if strings.Contains(rules, "{{") || len(rules) > 2000 {
			t.Errorf("%d bytes", len(rules))
		}
	}
}
