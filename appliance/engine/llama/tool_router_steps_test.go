package llama

import (
	"testing"

	"parley/appliance/engine"
	"parley/internal/packtest"
)

// The cost of a tool choice for an answer is counted in steps and tokens: every step has a fixed
// cost, on a slow machine that of 15 tokens.
func TestTheChoiceOfAToolSharesTheStepsOfThePrompt(t *testing.T) {
	m := small(t, nil)
	m.description.Parameters = smallModel // as in a model whose router needs one token after the last word
	for name, row := range map[string]struct {
		user, rest   string
		routerTokens int // tokens
	}{
		"read while it is spoken":              {"Could you please tell me when the", " pool opens?", 5},
		"a question of which nothing was read": {"", "When does the pool open tomorrow, and where is it, please?", 16},
	} {
		steps := map[bool]int{}
		for _, with := range []bool{false, true} {
			p := engine.Prompt{
				Conversation: name,
				Messages:     ask(row.user),
				MaxTokens:    4,
				Urgency:      engine.Prefetch.Urgency(),
			}
			if with {
				p.Tools = hotelTools
			}
			if row.user == "" {
				p.Messages = p.Messages[:1]
			}
			if err := m.Prefill(within(t), p); err != nil {
				t.Fatal(err)
			}
			p.Messages, p.Urgency = ask(row.user+row.rest), engine.Live.Urgency()
			_, u := reply(t, m, p)
			m.Forget(name)
			steps[with] = u.Steps
			if with && (u.RouterTokens < 1 || u.RouterTokens > row.routerTokens) {
				t.Errorf("%s: %d tokens were computed for the choice, want at most %d", name, u.RouterTokens,
					row.routerTokens)
			}
		}
		if steps[false] != 1 || steps[true] != 1 {
			t.Errorf("%s: the first token took %d steps without tools, %d with them, want 1 and 1", name, steps[false],
				steps[true])
		}
	}
}

// A reply that is held back until the choice is made does not keep the cores from it: its tokens
// are added to the steps of the choice.
func TestAReplyThatIsHeldWaitsForTheChoice(t *testing.T) {
	m := small(t, func(o *Options) { o.ModelPath = packtest.File(t, "llm-qwen-small", "model.gguf") })
	tools := []engine.Tool{{Name: "book_taxi", Description: "Order a taxi for a guest."}, {Name: "set_light"},
		{Name: "call_room"}}
	p := engine.Prompt{
		Messages:  []engine.Message{says(engine.User, "What colour is the sky at noon?")},
		Tools:     tools,
		MaxTokens: 60,
		Urgency:   engine.Live.Urgency(),
	}
	answer, u := reply(t, m, p)
	read := u.PromptTokens + u.RouterTokens
	if u.RouterTokens < 4*stepTokensInteractive || u.PromptTokens >= u.RouterTokens {
		t.Fatalf("the words have %d tokens, the choice %d: they are to be read first, and the choice in many steps",
			u.PromptTokens, u.RouterTokens)
	}
	if most := read/stepTokensInteractive + 3; u.Steps > most {
		t.Errorf("%d tokens were computed in %d steps, want at most %d; the reply is %q", read, u.Steps, most, answer)
	}
}
