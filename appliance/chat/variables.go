package chat

import (
	"strings"
	"time"
)

// fill puts the values of variables into a text, and of {{now}} where nobody
// set it. A variable that nobody set is empty.
func (s Settings) fill(text string, now time.Time) string {
	return fill(text, func(name string) string {
		if v, ok := s.Variables[name]; ok {
			return v
		}
		if name == "now" {
			return now.UTC().Format(time.RFC3339)
		}
		return ""
	})
}

// fill replaces each {{name}} in a prompt by value(name).
func fill(prompt string, value func(name string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(prompt, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(prompt)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(value(strings.TrimSpace(name)))
		prompt = after
	}
}
