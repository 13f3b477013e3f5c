package chat

import "strings"

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
