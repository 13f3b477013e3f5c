package manual

import (
	"fmt"
	"strings"
)

// Roff is the man page, section 1, in the man macros that groff and mandoc
// read. date is that of the page (2006-01-02), source what it describes.
func (m Manual) Roff(date, source string) string {
	r := &roff{}
	fmt.Fprintf(&r.b, ".TH %s 1 %s %q \"User Commands\"\n", strings.ToUpper(m.Program.Name), date, source)
	r.request("SH", "NAME")
	r.text(m.Program.Name + " - " + uncapitalised(strings.TrimSuffix(m.Program.Summary, ".")))
	r.request("SH", "SYNOPSIS")
	r.text(bold(m.Program.Name) + escape(strings.TrimPrefix(m.Program.Usage, m.Program.Name)))
	r.request("SH", "DESCRIPTION")
	r.blocks(m.Program.Text)
	r.options(m.Program.Flags)
	r.request("SH", "COMMANDS")
	for _, c := range m.Program.All()[1:] {
		r.command(c)
	}
	for _, s := range m.Sections {
		r.request("SH", strings.ToUpper(s.Title))
		for paragraph := range strings.SplitSeq(s.Text, "\n\n") {
			r.paragraph(paragraph)
		}
		r.options(s.Entries)
	}
	return r.b.String()
}

type roff struct {
	b     strings.Builder
	fresh bool // right below a heading, where a paragraph needs no beginning
}

// request writes one macro and its arguments.
func (r *roff) request(name string, args ...string) {
	if name == "PP" && r.fresh {
		return
	}
	r.fresh = name == "SH" || name == "SS"
	r.b.WriteString("." + name)
	for _, a := range args {
		fmt.Fprintf(&r.b, ` "%s"`, strings.ReplaceAll(escape(a), `"`, `\(dq`))
	}
	r.b.WriteString("\n")
}

// text writes a line that is escaped already.
func (r *roff) text(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	r.fresh = false
	r.b.WriteString(line + "\n")
}

func (r *roff) paragraph(text string) {
	if text = strings.Join(strings.Fields(text), " "); text != "" {
		r.request("PP")
		r.text(escape(text))
	}
}

func (r *roff) blocks(blocks []Block) {
	for _, b := range blocks {
		if b.Verbatim {
			r.code(b.Text)
		} else {
			r.paragraph(b.Text)
		}
	}
}

// code writes lines as they are.
func (r *roff) code(text string) {
	r.request("PP")
	r.request("RS", "4")
	r.request("nf")
	for line := range strings.SplitSeq(text, "\n") {
		r.text(escape(line))
	}
	r.request("fi")
	r.request("RE")
}

func (r *roff) options(list []Option) {
	for _, o := range list {
		r.request("TP")
		r.text(bold(o.Name))
		r.text(escape(o.Help))
	}
}

func (r *roff) command(c Command) {
	r.request("SS", c.Usage)
	r.text(escape(c.Summary))
	r.blocks(c.Text)
	r.options(c.Arguments)
	for _, g := range under(c.Flags, "") {
		r.paragraph(g.Title)
		r.options(g.Entries)
	}
	if c.Examples != "" {
		r.request("PP")
		r.text("Examples:")
		r.code(c.Examples)
	}
}

// escape takes from roff's special characters their meaning. A hyphen becomes
// a minus, which stays what it is when it is copied from the page.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`,
		"…", `\&...`, "→", `\(->`, "“", `\(lq`, "”", `\(rq`).Replace(text)
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }

func uncapitalised(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
