package turn

import (
	"strings"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// Rules are what a box adds of its own for a model that needs it.
type Rules struct {
	// Before stands before a prompt that is not the box's own, and is the same in
	// all chats; empty: nothing does.
	Before string
	// Manner stands in place of Before where the prompt has no facts; empty: Before
	// does there, too.
	Manner string
	// Check: an answer does not claim what no tool has done, and does not say that a
	// company made the assistant.
	Check bool
}

// rules are those that stand before the prompt; empty: none do.
func (s State) rules() string {
	switch {
	case !s.settings.Brought:
		return ""
	case s.settings.Rules.Manner == "" || s.settings.Rules.Before == "" || factual(s.prompt):
		return s.settings.Rules.Before
	}
	return s.settings.Rules.Manner
}

// between parts the box's rules and the prompt behind them.
const between = "\n\n"

// instructions are all that the model is told before the conversation: the
// box's rules, where there are any, and the prompt. The rules are English, and
// so would be the answers: behind the prompt stands in which language to answer
// somebody who speaks another, unless the prompt says so itself.
func (s State) instructions() string { return s.behind(s.rules()) }

// behind are the instructions with these rules.
func (s State) behind(rules string) string {
	if rules == "" {
		return s.prompt
	}
	all := rules + between + s.prompt
	if answer := language.Of(s.settings.spoken).Answer(); answer != "" && !strings.Contains(s.prompt, answer) {
		all += between + answer
	}
	return all
}

// steady is how many bytes of the instructions are the same in every chat that
// has them, with these rules.
func (s State) steady(rules string) int {
	n := s.settings.steady()
	if rules != "" {
		n += len(rules) + len(between)
	}
	return n
}

// examples are those of a config as they stand behind its prompt.
func examples(all []contract.Example) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nExamples:")
	for _, e := range all {
		b.WriteString("\nQuestion: " + e.User + "\nAnswer: " + e.Assistant)
	}
	return b.String()
}
