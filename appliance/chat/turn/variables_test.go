package turn

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/appliance/contract"
)

func variables(named map[string]string) map[string]contract.VariableValue {
	out := map[string]contract.VariableValue{}
	for name, value := range named {
		out[name] = contract.TextVariable(value)
	}
	return out
}

func TestVariablesAreFilledIn(t *testing.T) {
	s := Settings{Variables: map[string]string{"name": "Ann", "a b": "{{name}}"}}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]string{
		"":                                 "",
		"Hello {{name}}.":                  "Hello Ann.",
		"{{ name }}{{name}}":               "AnnAnn",
		"{{gone}}!":                        "!",
		"{{a b}}":                          "{{name}}", // values are not filled again
		"It is {{now}}.":                   "It is 2026-01-02T03:04:05Z.",
		"{{name":                           "{{name",
		"{{name}} }} {{":                   "Ann }} {{",
		strings.Repeat("{{", 3) + "name}}": "",
	} {
		if got := s.Fill(text, now); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
		if n := s.filledLength(text, nil); n != len(want) {
			t.Errorf("%q: the predicted size is %d bytes, the size %d", text, n, len(want))
		}
	}
}

// Oversized settings are refused before they are built, with the reason and the size, and change nothing.
func TestOversizedSettingsAreRefusedCheaply(t *testing.T) {
	long := strings.Repeat("x", contract.MaxVariableChars)
	repeated := strings.Repeat("{{a}}", contract.MaxPromptChars/5)
	many := map[string]string{}
	for n := range contract.MaxVariables {
		many[fmt.Sprint("v", n)] = "1"
	}
	greeted := func(s *Settings) {
		s.OnNewChat = contract.EventMessage{Enabled: true, Text: strings.Repeat("{{a}}", 100)}
	}
	for name, c := range map[string]struct {
		before func(*Settings)
		asked  contract.SessionSettings
		says   []string
	}{
		"a prompt that repeats a long value": {
			nil, contract.SessionSettings{SystemPrompt: &repeated,
				Variables: variables(map[string]string{"a": long, "b": "1"})},
			[]string{"system_prompt", "{{a}}", "200000000 bytes", "at most 400000"},
		},
		"a value for the prompt in force": {
			func(s *Settings) {
				s.SystemPrompt = repeated
			}, contract.SessionSettings{Variables: variables(map[string]string{"a": long})},
			[]string{"system_prompt", "{{a}}", "at most 400000"},
		},
		"a value for the greeting": {
			greeted, contract.SessionSettings{Variables: variables(map[string]string{"a": long})},
			[]string{"on_new_chat", "{{a}}", "1000000 bytes", "at most 40000 "},
		},
		"one variable more than a chat may have": {
			func(s *Settings) {
				s.Variables = many
			}, contract.SessionSettings{Variables: variables(map[string]string{"one more": "1"})},
			[]string{"variables", "1001", "at most 1000"},
		},
		"variables that hold too much": {
			func(s *Settings) {
				s.Variables = map[string]string{}
				for n := range 40 {
					s.Variables[fmt.Sprint("v", n)] = long
				}
			}, contract.SessionSettings{Variables: variables(map[string]string{"one more": long})},
			[]string{"variables", "at most 400000"},
		},
	} {
		b := begin(t, func(s *Settings) {
			if c.before != nil {
				c.before(s)
			}
		})
		was := b.state.settings
		c.asked.CustomSessionID = "x"
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		next, effects := Next(b.state, SettingsRequested{At: At(time.Second), Message: c.asked})
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
			t.Errorf("%s: the refusal allocates %d bytes", name, used)
		}
		if len(effects) != 1 {
			t.Fatalf("%s: brought %v", name, short(effects))
		}
		wrong, ok := effects[0].(Publish).Fact.(FaultOccurred)
		if !ok || wrong.Fault.Code != contract.InvalidSettings {
			t.Fatalf("%s: %v", name, short(effects))
		}
		for _, w := range c.says {
			if !strings.Contains(wrong.Fault.Detail, w) {
				t.Errorf("%s: %q does not say %q", name, wrong.Fault.Detail, w)
			}
		}
		if s := next.settings; next.prompt != b.state.prompt || s.CustomSessionID != "" ||
			s.SystemPrompt != was.SystemPrompt || len(s.Variables) != len(was.Variables) {
			t.Errorf("%s: half of the settings were applied", name)
		}
	}
}

// The longest prompt that is allowed without variables is allowed with some.
func TestTheLongestPromptMayHaveVariables(t *testing.T) {
	prompt := strings.Repeat("語", contract.MaxPromptChars-8) + "{{name}}"
	_, fault := DefaultSettings().Merge(contract.SessionSettings{SystemPrompt: &prompt,
		Variables: variables(map[string]string{"name": "Ann"})})
	if fault != nil {
		t.Error(fault)
	}
}

func TestTheVariablePartOfThePromptBeginsWithItsFirstVariable(t *testing.T) {
	for prompt, alike := range map[string]string{
		"You are a clerk.":                    "You are a clerk.",
		"You are a clerk. It is {{now}}.":     "You are a clerk. It is ",
		"{{name}} calls. You are {{who}}.":    "",
		"Open {{ is no variable":              "Open {{ is no variable",
		"Use {{name}}, and say it is {{now}}": "Use ",
	} {
		s := DefaultSettings()
		s.SystemPrompt, s.Variables = prompt, map[string]string{"name": "Ann", "who": "a clerk"}
		c := NewState(s, time.Now(), nil).Conversation()
		if got := c.Prompt[:len(c.Prompt)-c.VariableBytes]; got != alike {
			t.Errorf("%q: other chats have %q, want %q", prompt, got, alike)
		}
	}
}

func TestUnsetVariablesAreListed(t *testing.T) {
	s := DefaultSettings()
	s.SystemPrompt = "It is {{now}}. {{ name }} has {{dog}}.{{answer_language}}"
	s.OnInactivity.Text = "{{name}}, are you at {{place}}?"
	s.Variables = map[string]string{"dog": ""}
	if got := s.Unset(); !slices.Equal(got, []string{"name", "place"}) {
		t.Errorf("%q", got)
	}
}
