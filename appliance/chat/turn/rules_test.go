package turn

import (
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

func conversationOf(change func(*Settings)) Conversation {
	s := DefaultSettings()
	s.SystemPrompt, s.Rules = "You are a box.", Rules{Factual: "Be brief.", CheckAnswers: true}
	change(&s)
	return NewState(s, time.UnixMilli(0), nil).Conversation()
}

// The rules precede a custom prompt and belong to the constant part of all chats with it. The box's own
// prompt needs none.
func TestRulesPrecedeACustomPrompt(t *testing.T) {
	for name, row := range map[string]struct {
		change         func(*Settings)
		prompt, steady string
		unchecked      bool
	}{
		"the box's own": {func(s *Settings) {}, "You are a box.", "You are a box.", false},
		"brought": {func(s *Settings) {
			s.SystemPrompt, s.CustomPrompt = "Open at {{at}}, daily.", true
			s.Variables = map[string]string{"at": "ten"}
		},
			"Be brief.\n\nOpen at ten, daily.", "Be brief.\n\nOpen at ", false},
		"the box's own, with tools": {func(s *Settings) {
			s.Tools = []Tool{{Name: "t"}}
		}, "You are a box.", "You are a box.", false},
		"alone": {func(s *Settings) {
			s.CustomPrompt, s.Rules.Factual = true, ""
		}, "You are a box.", "You are a box.", false},
		"unchecked": {func(s *Settings) {
			s.CustomPrompt, s.Rules.CheckAnswers = true, false
		}, "Be brief.\n\nYou are a box.", "Be brief.\n\nYou are a box.", true},
		"with examples": {func(s *Settings) {
			s.CustomPrompt, s.Examples = true, []contract.Example{{User: "When?", Assistant: "At ten."}}
		},
			"Be brief.\n\nYou are a box.\n\nExamples:\nQuestion: When?\nAnswer: At ten.",
			"Be brief.\n\nYou are a box.\n\nExamples:\nQuestion: When?\nAnswer: At ten.",
			false},
		"in German": {func(s *Settings) {
			s.CustomPrompt, s.userLanguage = true, "de"
		}, "Be brief.\n\nYou are a box.\n\nAntworte auf Deutsch.", "Be brief.\n\nYou are a box.", false},
		"in German, which the prompt asks for": {func(s *Settings) {
			s.SystemPrompt, s.CustomPrompt, s.userLanguage = "Hallo.{{answer_language}}", true, "de"
		},
			"Be brief.\n\nHallo. Antworte auf Deutsch.", "Be brief.\n\nHallo.", false},
	} {
		c := conversationOf(row.change)
		steady := c.Prompt[:len(c.Prompt)-c.VariableBytes]
		if c.Prompt != row.prompt || steady != row.steady {
			t.Errorf("%s: %q, steady %q", name, c.Prompt, steady)
		}
		if c.CheckAnswers == row.unchecked {
			t.Errorf("%s: checked: %v", name, c.CheckAnswers)
		}
	}
}

// A prompt that only says who speaks and how has rules of its own.
func TestAPersonaPromptHasPersonaRules(t *testing.T) {
	for prompt, want := range map[string]string{
		"You are Mia and 30 years old. Be kind.": "Be kind.",
		"You are a warm, empathic companion. Ask one question at a time. Keep answers to one or two sentences. The " +
			"user may be sad. The conversation must stay kind.": "Be kind.",
		"You are the receptionist of a dental clinic, open for emergencies. Ask for the caller's name and number, " +
			"and be polite.": "Be kind.",
		"Answer from these facts. Ten to six, closed on Mondays. A ticket is eight euros, free under eighteen. The " +
			"cloakroom is behind the stairs.": "Be brief.",
		"You help at a camp. The showers are behind the shop. Dogs stay outside. The lake is cold. Our shop sells " +
			"bread.": "Be brief.",
		"Wir haben von 10 bis 18 Uhr auf, montags nicht. Der Eintritt ist frei unter 18.": "Be brief.",
		"Open at 10, 11 and 12, from June to May 31, for 9 dollars.":                      "Be brief.",
		"Open at ten, on Friday at eleven, for two dollars, till six or one.":             "Be brief.",
		"Facts:\n- Dogs stay out.\n- The lift is broken.\n- Ann is the boss.":             "Be brief.",
		"Say:\n- hello\n- goodbye":                       "Be kind.",
		"You know {{what}}.":                             "Be brief.",
		strings.Repeat("x ", maxScanned) + "1 2 3 4 5 6": "Be kind.",
	} {
		c := conversationOf(func(s *Settings) {
			s.SystemPrompt, s.CustomPrompt, s.Rules.Persona = prompt, true, "Be kind."
			s.Variables = map[string]string{"what": "1, 2, 3, 4 and 5"}
		})
		if !strings.HasPrefix(c.Prompt, want+separator) ||
			!strings.HasPrefix(c.Prompt[:len(c.Prompt)-c.VariableBytes], want+separator) {
			t.Errorf("%.60q has %.20q before it, want %q", prompt, c.Prompt, want)
		}
		if c.Factual != (want == "Be brief.") {
			t.Errorf("%.60q has facts: %v", prompt, c.Factual)
		}
	}
	if c := conversationOf(func(s *Settings) {
		s.CustomPrompt, s.Rules = true, Rules{Persona: "Be kind."}
	}); c.Prompt != "You are a box." {
		t.Errorf("alone: %q", c.Prompt)
	}
}

// A client's prompt in the middle of a chat has the rules from then on, and drops a prepared answer.
func TestANewPromptHasTheRules(t *testing.T) {
	s := DefaultSettings()
	s.SystemPrompt, s.Rules = "You are a box.", Rules{Factual: "Be brief.", CheckAnswers: true}
	prompt := "Open at 10, 11 and 12."
	_, out := Next(NewState(s, time.UnixMilli(0), nil),
		SettingsRequested{Message: contract.SessionSettings{SystemPrompt: &prompt}})
	for _, e := range out {
		if p, ok := e.(Prefill); ok {
			if want := "Be brief.\n\n" + prompt; p.Prompt != want || !p.CheckAnswers || p.CustomPrompt != prompt {
				t.Errorf("reads %q of %q, checked: %v", p.Prompt, p.CustomPrompt, p.CheckAnswers)
			}
			return
		}
	}
	t.Errorf("nothing is read ahead: %+v", out)
}
