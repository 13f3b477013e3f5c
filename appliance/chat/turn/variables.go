package turn

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/appliance/language"
)

// Prompt is the system prompt and its examples with their variables filled in.
// {{now}} is when the chat began: a prompt that changed with every turn would
// have to be read anew.
func (s Settings) Prompt(begun time.Time) string {
	return s.Fill(s.SystemPrompt+examples(s.Examples), begun)
}

// constantLength is how many bytes of the filled system prompt are the same in every
// chat that has it: those before its first variable.
func (s Settings) constantLength() int {
	prompt := s.SystemPrompt + examples(s.Examples)
	before, rest, found := strings.Cut(prompt, "{{")
	if !found || !strings.Contains(rest, "}}") {
		return len(prompt)
	}
	return len(before)
}

// Fill puts the values of variables into a text, and of {{now}} and
// {{answer_language}}, the sentence that asks for answers in the user's language,
// where nobody set them. A variable that nobody set is empty.
func (s Settings) Fill(text string, now time.Time) string {
	var b strings.Builder
	b.Grow(s.filledLength(text, nil))
	s.eachPiece(text, now, func(_, piece string) { b.WriteString(piece) })
	return b.String()
}

// filledLength is how many bytes a text has once it is filled. brought, where it is
// not nil, is told how many of them each variable brings.
func (s Settings) filledLength(text string, brought func(name string, bytes int)) (n int) {
	s.eachPiece(text, time.Time{}, func(name, piece string) {
		n += len(piece)
		if name != "" && brought != nil {
			brought(name, len(piece))
		}
	})
	return n
}

// eachPiece goes through a text once and hands on its pieces in order: what
// stands between variables, with an empty name, and the value of each variable.
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
				value = " " + value // a prompt has no space too many where there is none
			}
		}
		take(name, value)
		text = after
	}
}

// Unset are the variables that the prompt and the event messages have and that
// nobody set, each once: they are empty.
func (s Settings) Unset() []string {
	var names []string
	for _, text := range [...]string{s.SystemPrompt, s.OnNewChat.Text, s.OnInactivity.Text, s.OnMaxDuration.Text} {
		s.eachPiece(text, time.Time{}, func(name, _ string) {
			_, set := s.Variables[name]
			if name != "" && !set && name != "now" && name != "answer_language" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		})
	}
	return names
}

// tooLong says by how much a text is too long once it is filled, and which
// variable brings most of that; nothing where it is not.
func (s Settings) tooLong(text string, most int) string {
	if s.filledLength(text, nil) <= most {
		return ""
	}
	brought := map[string]int{}
	n := s.filledLength(text, func(name string, bytes int) {
		if bytes > 0 {
			brought[name] += bytes
		}
	})
	name := ""
	for v, bytes := range brought {
		if bytes > brought[name] || bytes == brought[name] && v < name {
			name = v
		}
	}
	if name == "" {
		return fmt.Sprintf("%d bytes; at most %d are allowed", n, most)
	}
	return fmt.Sprintf(
		"with its variables filled in it would have %d bytes, %d of them from {{%s}}; at most %d are allowed", n,
		brought[name], name, most)
}
