package turn

import (
	"strings"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// Rules are what a box adds of its own for a model that needs it.
type Rules struct {
	// Factual stands before a prompt that is not the box's own, and is the same in
	// all chats; empty: nothing does.
	Factual string
	// Persona stands in place of Before where the prompt has no facts; empty: Before
	// does there, too.
	Persona string
	// CheckAnswers: an answer does not claim what no tool has done, and does not say that a
	// company made the assistant.
	CheckAnswers bool
}

// rules are those that stand before the prompt; empty: none do.
func (s State) rules() string {
	switch {
	case !s.settings.CustomPrompt:
		return ""
	case s.settings.Rules.Persona == "" || s.settings.Rules.Factual == "" || factual(s.prompt):
		return s.settings.Rules.Factual
	}
	return s.settings.Rules.Persona
}

// separator parts the box's rules and the prompt behind them.
const separator = "\n\n"

// instructions are all that the model is told before the conversation: the
// box's rules, where there are any, and the prompt. The rules are English, and
// so would be the answers: behind the prompt stands in which language to answer
// somebody who speaks another, unless the prompt says so itself.
func (s State) instructions() string { return s.withRules(s.rules()) }

// withRules are the instructions with these rules.
func (s State) withRules(rules string) string {
	if rules == "" {
		return s.prompt
	}
	all := rules + separator + s.prompt
	if answer := language.Of(s.settings.userLanguage).AnswerInstruction(); answer != "" && !strings.Contains(s.prompt,
		answer) {
		all += separator + answer
	}
	return all
}

// constantLength is how many bytes of the instructions are the same in every chat that
// has them, with these rules.
func (s State) constantLength(rules string) int {
	n := s.settings.constantLength()
	if rules != "" {
		n += len(rules) + len(separator)
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
