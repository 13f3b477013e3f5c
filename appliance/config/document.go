package config

import (
	"fmt"
	"strings"
)

// Document is the table of all settings in Markdown, for the documentation.
func Document() string {
	var b strings.Builder
	group := ""
	for _, s := range Settings() {
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&b, "\n### %s\n\n| in parley.yaml | variable | flag | what it is | allowed | default |\n|---|---|---|---|---|---|\n", group)
		}
		what := s.Help
		if s.More != "" {
			what += " " + s.More
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | `--%s` | %s | %s | %s |\n", s.Key, s.Env(), s.Flag, cell(what), cell(s.allowed), cell(s.fallback("`")))
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// cell escapes what would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Fallback says what holds where nobody sets the setting; empty where there is
// nothing to say.
func (s Setting) Fallback() string { return s.fallback("") }

// fallback has quote around what may be written down as it is.
func (s Setting) fallback(quote string) string {
	if s.Otherwise != "" || s.Default == "" {
		return s.Otherwise
	}
	return quote + s.Default + quote
}
