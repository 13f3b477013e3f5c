package manual

import (
	"strings"

	"parley/cmd/parley/terminal"
)

const (
	// widest is the width beyond which lines are hard to read.
	widest = 100
	// left is the width of the column of names; a longer name has a line of
	// its own.
	left = 22
	// narrow is the width below which every name has a line of its own.
	narrow = 66
)

// Help is what a person who asks for help reads, in lines of at most width
// columns.
func (c Command) Help(width int) string {
	w := &page{width: min(width, widest)}
	w.add(terminal.Hang("Usage: ", c.Usage, w.width))
	w.add("")
	w.paragraph(c.Summary)
	w.blocks(c.Text)
	if c.Examples != "" {
		w.add("", "Examples:")
		w.indented(c.Examples)
	}
	w.options("Arguments:", c.Arguments)
	for _, g := range under(c.Flags, "Flags") {
		w.options(g.Title+":", g.Entries)
	}
	for _, g := range c.groups() {
		w.options(g.Title+":", g.Entries)
	}
	if len(c.Commands) > 0 {
		w.add("")
		w.paragraph(c.Name + " COMMAND --help shows one of them in full.")
	}
	return strings.Join(w.lines, "\n") + "\n"
}

// Short is what a person reads who typed the program's name and nothing else.
func (c Command) Short(width int, first ...string) string {
	w := &page{width: min(width, widest)}
	w.paragraph(c.Summary)
	w.add("", terminal.Hang("Usage: ", c.Usage, w.width))
	var start []Option
	for _, name := range first {
		if sub, ok := c.Find(name); ok {
			start = append(start, Option{Name: sub.Name, Help: sub.Summary})
		}
	}
	w.options("To begin with:", start)
	for _, g := range c.groups() {
		w.options(g.Title+":", g.Entries)
	}
	w.add("")
	w.paragraph(c.Name + " help COMMAND shows a command with its flags and examples, " + c.Name +
		" --help what all have in common.")
	return strings.Join(w.lines, "\n") + "\n"
}

// page collects lines.
type page struct {
	width int
	lines []string
}

func (p *page) add(lines ...string) { p.lines = append(p.lines, lines...) }

func (p *page) paragraph(text string) { p.add(terminal.Wrap(text, p.width)...) }

// indented adds text as it is, two columns to the right: command lines are for
// copying and are not wrapped.
func (p *page) indented(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		p.add(strings.TrimRight("  "+line, " "))
	}
}

func (p *page) blocks(blocks []Block) {
	for _, b := range blocks {
		p.add("")
		if b.Verbatim {
			p.indented(b.Text)
		} else {
			p.paragraph(b.Text)
		}
	}
}

// options adds names with what they mean beside them, or below where there is
// no room.
func (p *page) options(title string, list []Option) {
	if len(list) == 0 {
		return
	}
	p.add("", title)
	column := 0
	for _, o := range list {
		if len(o.Name) <= left {
			column = max(column, len(o.Name))
		}
	}
	for _, o := range list {
		name := "  " + o.Name
		switch {
		case o.Help == "":
			p.add(name)
		case p.width < narrow:
			p.add(name, terminal.Hang("      ", o.Help, p.width))
		case len(o.Name) > column:
			p.add(name, terminal.Hang(strings.Repeat(" ", column+4), o.Help, p.width))
		default:
			p.add(terminal.Hang(name+strings.Repeat(" ", column+4-len(name)), o.Help, p.width))
		}
	}
}
