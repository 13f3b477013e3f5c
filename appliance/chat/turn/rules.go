package turn

import (
	"strings"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// Rules are instructions that the box adds for a model that needs them.
type Rules struct {
	// Factual precedes a custom prompt. It is the same in all chats; empty adds nothing.
	Factual string
	// Persona replaces Factual before a prompt that states no facts. If it is empty, Factual is used there
	// too.
	Persona string
	// CheckAnswers means that answers are checked: an answer must not claim what no tool has done, and must
	// not say that some company made the assistant.
	CheckAnswers bool
}

// rules returns the rules that precede the prompt; empty if there are none.
func (s State) rules() string {
	switch {
	case !s.settings.CustomPrompt:
		return ""
	case s.settings.Rules.Persona == "" || s.settings.Rules.Factual == "" || factual(s.prompt):
		return s.settings.Rules.Factual
	}
	return s.settings.Rules.Persona
}

// separator stands between the box's rules and the prompt.
const separator = "\n\n"

// instructions returns the text that precedes the conversation for the model: the rules, if any, and the
// prompt. Rules are English, which would make the answers English. So for a user of another language a sentence
// after the prompt asks for that language, unless the prompt has it.
func (s State) instructions() string { return s.withRules(s.rules()) }

// withRules returns the instructions with these rules.
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

// constantLength returns how many bytes of the instructions, with these rules, are the same in every chat
// that has them.
func (s State) constantLength(rules string) int {
	n := s.settings.constantLength()
	if rules != "" {
		n += len(rules) + len(separator)
	}
	return n
}

// examples returns a config's examples as they follow its prompt.
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
