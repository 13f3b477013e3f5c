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
			fmt.Fprintf(&b, "\n### %s\n\n| in parley.yaml | variable | flag | what it is | allowed | default |\n"+
				"|---|---|---|---|---|---|\n", group)
		}
		what := s.Help
		if s.More != "" {
			what += " " + s.More
		}
		fmt.Fprintf(&b, "| `%s` | `%s` | `--%s` | %s | %s | %s |\n", s.Key, s.Env(), s.Flag, cell(what),
			cell(s.allowed), cell(s.fallback("`")))
	}
	b.WriteString("\n### Old names\n\nThey are still read, in all four places. Where one place has an old name and the " +
		"setting itself, they must not differ.\n\n| was | variable, flag | is a part of |\n|---|---|---|\n")
	for _, s := range Old() {
		names := "those of `" + s.Into + "`"
		if s.Flag != "" {
			names = "`" + s.Env() + "`, `--" + s.Flag + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` |\n", s.Key, names, s.Into)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// cell escapes what would end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Fallback is the default, or says in words what it is; empty where there is
// none.
func (s Setting) Fallback() string { return s.fallback("") }

// fallback puts quote around a default that is a value, and not around words.
func (s Setting) fallback(quote string) string {
	if s.Otherwise != "" || s.Default == "" {
		return s.Otherwise
	}
	return quote + s.Default + quote
}
