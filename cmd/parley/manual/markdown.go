package manual

import (
	"fmt"
	"strings"
)

// Markdown is the manual as one page of documentation: intro, which says what
// the page is, then every command, then the sections.
func (m Manual) Markdown(intro string) string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSpace(intro) + "\n")
	for _, g := range m.Program.groups() {
		fmt.Fprintf(b, "\n%s:\n\n", g.Title)
		for _, o := range g.Entries {
			name := m.Program.Name + " " + o.Name
			fmt.Fprintf(b, "- [`%s`](#%s): %s\n", name, strings.ReplaceAll(name, " ", "-"), o.Help)
		}
	}
	options(b, "Flags of the program itself", m.Program.Flags)
	for _, c := range m.Program.All()[1:] {
		command(b, c)
	}
	for _, s := range m.Sections {
		fmt.Fprintf(b, "\n## %s\n", s.Title)
		for paragraph := range strings.SplitSeq(s.Text, "\n\n") {
			if paragraph = strings.Join(strings.Fields(paragraph), " "); paragraph != "" {
				fmt.Fprintf(b, "\n%s\n", paragraph)
			}
		}
		table(b, s.Entries)
	}
	return b.String()
}

func command(b *strings.Builder, c Command) {
	level := strings.Repeat("#", min(strings.Count(c.Name, " ")+1, 3))
	fmt.Fprintf(b, "\n%s %s\n\n%s\n\n```\n%s\n```\n", level, c.Name, c.Summary, c.Usage)
	for _, block := range c.Text {
		if block.Verbatim {
			block.Text = "```\n" + block.Text + "\n```"
		}
		fmt.Fprintf(b, "\n%s\n", block.Text)
	}
	if c.Examples != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", c.Examples)
	}
	table(b, c.Arguments)
	for _, g := range under(c.Flags, "") {
		if g.Title != "" {
			fmt.Fprintf(b, "\n%s:\n", g.Title)
		}
		table(b, g.Entries)
	}
}

func options(b *strings.Builder, title string, list []Option) {
	if len(list) > 0 {
		fmt.Fprintf(b, "\n%s:\n", title)
		table(b, list)
	}
}

func table(b *strings.Builder, list []Option) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n| | |\n|---|---|\n")
	for _, o := range list {
		cell := strings.NewReplacer("|", `\|`, "<", "&lt;").Replace
		fmt.Fprintf(b, "| `%s` | %s |\n", strings.ReplaceAll(o.Name, "|", `\|`), cell(o.Help))
	}
}
