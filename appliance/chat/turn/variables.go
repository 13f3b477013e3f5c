package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/language"
)

// Prompt returns the system prompt and its examples with their variables filled in. {{now}} is when the chat
// began: a prompt that changed with every turn would have to be prefilled every time.
func (s Settings) Prompt(begun time.Time) string {
	return s.Fill(s.SystemPrompt+examples(s.Examples), begun)
}

// constantLength returns how many bytes of the filled system prompt are the same in every chat that has it:
// those before its first variable.
func (s Settings) constantLength() int {
	prompt := s.SystemPrompt + examples(s.Examples)
	before, rest, found := strings.Cut(prompt, "{{")
	if !found || !strings.Contains(rest, "}}") {
		return len(prompt)
	}
	return len(before)
}

// Fill replaces the variables in a text by their values. {{now}} and {{answer_language}}, the sentence that
// asks for answers in the user's language, have values even if they were not set. Any other variable without
// a value becomes empty.
func (s Settings) Fill(text string, now time.Time) string {
	var b strings.Builder
	b.Grow(s.filledLength(text, nil))
	s.eachPiece(text, now, func(_, piece string) { b.WriteString(piece) })
	return b.String()
}

// filledLength returns the length of a text in bytes once it is filled. each, if not nil, is called with
// the length of each variable's value.
func (s Settings) filledLength(text string, each func(name string, bytes int)) (n int) {
	s.eachPiece(text, time.Time{}, func(name, piece string) {
		n += len(piece)
		if name != "" && each != nil {
			each(name, len(piece))
		}
	})
	return n
}

// eachPiece calls take for each piece of a text in order: the text between variables, with an empty name, and
// the value of each variable.
func (s Settings) eachPiece(text string, now time.Time, take func(name, piece string)) {
	for {
		before, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			take("", text)
			return
		}
		take("", before)
		name = strings.TrimSpace(name)
		value, set := s.Variables[name]
		switch {
		case set:
		case name == "now":
			value = now.UTC().Format(time.RFC3339)
		case name == "answer_language":
			if value = language.Of(s.userLanguage).AnswerInstruction(); value != "" {
				value = " " + value // separated from the prompt only if there is a value
			}
		}
		take(name, value)
		text = after
	}
}

// Unset returns the variables in the prompt, the event messages and the approved answers that have no value,
// each once.
func (s Settings) Unset() []string {
	var names []string
	texts := []string{s.SystemPrompt, s.OnNewChat.Text, s.OnInactivity.Text, s.OnMaxDuration.Text}
	if s.Answers != nil {
		texts = append(texts, s.Answers.Unknown)
		for _, item := range s.Answers.Items {
			texts = append(texts, item.Say)
		}
	}
	for _, text := range texts {
		s.eachPiece(text, time.Time{}, func(name, _ string) {
			_, set := s.Variables[name]
			if name != "" && !set && name != "now" && name != "answer_language" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	return names
}

// answersTooLong says which approved answer is too long once its variables are filled in. It returns "" if none
// is.
func (s Settings) answersTooLong() string {
	if s.Answers == nil {
		return ""
	}
	if why := s.tooLong(s.Answers.Unknown, contract.MaxEventTextBytes); why != "" {
		return "answers.unknown: " + why
	}
	for i, item := range s.Answers.Items {
		if why := s.tooLong(item.Say, contract.MaxEventTextBytes); why != "" {
			return fmt.Sprintf("answers.items[%d].say: %s", i, why)
		}
	}
	return ""
}

// tooLong says by how much a filled text is too long and which variable adds most to it. It returns "" if the
// text fits.
func (s Settings) tooLong(text string, most int) string {
	if s.filledLength(text, nil) <= most {
		return ""
	}
	lengths := map[string]int{}
	n := s.filledLength(text, func(name string, bytes int) {
		if bytes > 0 {
			lengths[name] += bytes
		}
	})
	name := ""
	for v, bytes := range lengths {
		if bytes > lengths[name] || bytes == lengths[name] && v < name {
			name = v
		}
	}
	if name == "" {
		return fmt.Sprintf("%d bytes; at most %d are allowed", n, most)
	}
	return fmt.Sprintf(
		"with its variables filled in it would have %d bytes, %d of them from {{%s}}; at most %d are allowed", n,
		lengths[name], name, most)
}
