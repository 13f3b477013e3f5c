package importer

import (
	"fmt"
	"io"
	"strings"

	"parley/appliance/contract"
)

// The kinds of records that a report counts, in its order.
const (
	kindPrompt    = "prompt"
	kindTool      = "tool"
	kindConfig    = "config"
	kindGroup     = "chat group"
	kindChat      = "chat"
	kindEvent     = "event"
	kindVoice     = "voice"
	kindRecording = "recording"
	kindFile      = "file"
)

// A Report says what an import takes, and what it does not take.
type Report struct {
	From    string   `json:"from"` // the folder or file
	Account string   `json:"account"`
	DryRun  bool     `json:"dry_run"` // nothing was changed
	Files   int      `json:"files"`   // that were read
	Counts  []*Count `json:"counts"`
	// Mapped are voices and models of the old service, and what the box has for them.
	Mapped []Line `json:"mapped"`
	// Mended are records that the box takes with a change.
	Mended []Line `json:"mended"`
	// Differs are records that the box or another file has with other content; they stay
	// as they are.
	Differs []Line `json:"differs"`
	// LeftOut are files and records that are not taken.
	LeftOut []Line `json:"left_out"`
	// Notes are what the operator must know, such as what the settings will delete.
	Notes []string `json:"notes"`
	// Omitted is the number of lines beyond maxLines of each list.
	Omitted int `json:"omitted_lines,omitempty"`
}

// A Count says how many records of a kind there are: versions of prompts, tools and
// configs.
type Count struct {
	Kind    string `json:"kind"`
	Found   int    `json:"found"`
	New     int    `json:"new"`
	Here    int    `json:"already_here"`
	Differs int    `json:"differs"`
	LeftOut int    `json:"left_out"`
}

// A Line is about one file or record.
type Line struct {
	Kind    string `json:"kind"`
	ID      string `json:"id,omitempty"`
	Version *int   `json:"version,omitempty"`
	Name    string `json:"name,omitempty"`
	File    string `json:"file,omitempty"`
	To      string `json:"to,omitempty"` // what the box has for it
	Why     string `json:"why"`
}

// maxLines bounds each list of a report: people read the first, and programs count.
const maxLines = 10_000

func (r *Report) add(list *[]Line, l Line) {
	if len(*list) >= maxLines {
		r.Omitted++
		return
	}
	l.ID, l.Name, l.Why = contract.Clip(l.ID), contract.Clip(l.Name), contract.ClipError(l.Why)
	*list = append(*list, l)
}

func (r *Report) mapped(l Line) { r.add(&r.Mapped, l) }
func (r *Report) mended(l Line) { r.add(&r.Mended, l) }

func (r *Report) differs(l Line) {
	r.count(l.Kind).Differs++
	r.add(&r.Differs, l)
}

func (r *Report) leftOut(l Line) {
	r.count(l.Kind).LeftOut++
	r.add(&r.LeftOut, l)
}

func (r *Report) notef(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// count returns the count of a kind.
func (r *Report) count(kind string) *Count {
	for _, c := range r.Counts {
		if c.Kind == kind {
			return c
		}
	}
	c := &Count{Kind: kind}
	r.Counts = append(r.Counts, c)
	return c
}

func newReport() *Report {
	r := &Report{Mapped: []Line{}, Mended: []Line{}, Differs: []Line{}, LeftOut: []Line{}, Notes: []string{}}
	for _, kind := range []string{kindPrompt, kindTool, kindConfig, kindGroup, kindChat, kindEvent, kindVoice,
		kindRecording, kindFile} {
		r.count(kind)
	}
	return r
}

// clone returns a copy to which more can be added.
func (r *Report) clone() *Report {
	c := *r
	c.Counts = nil
	for _, one := range r.Counts {
		count := *one
		c.Counts = append(c.Counts, &count)
	}
	for _, list := range []*[]Line{&c.Mapped, &c.Mended, &c.Differs, &c.LeftOut} {
		*list = append([]Line{}, *list...)
	}
	c.Notes = append([]string{}, r.Notes...)
	return &c
}

// New returns the number of records that the import takes.
func (r *Report) New() (n int) {
	for _, c := range r.Counts {
		n += c.New
	}
	return n
}

// shownLines is how many lines of each list Write shows.
const shownLines = 20

// Write writes the report for people.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d files, for the account %s\n\n", r.From, r.Files, r.Account)
	fmt.Fprintf(&b, "%-12s %8s %8s %12s %8s %8s\n", "", "found", "new", "already here", "differs", "left out")
	for _, c := range r.Counts {
		if c.Found+c.Differs+c.LeftOut > 0 {
			fmt.Fprintf(&b, "%-12s %8d %8d %12d %8d %8d\n", plural(c.Kind), c.Found, c.New, c.Here, c.Differs,
				c.LeftOut)
		}
	}
	for _, list := range []struct {
		title string
		lines []Line
	}{
		{"Mapped", r.Mapped}, {"Taken with a change", r.Mended}, {"Differs; what is here stays as it is", r.Differs},
		{"Left out", r.LeftOut},
	} {
		writeLines(&b, list.title, list.lines)
	}
	if len(r.Notes) > 0 {
		fmt.Fprintf(&b, "\nNote:\n")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "  %s\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func plural(kind string) string { return strings.TrimSuffix(kind, "y") + "s" }

func writeLines(b *strings.Builder, title string, lines []Line) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, l := range lines[:min(len(lines), shownLines)] {
		fmt.Fprintf(b, "  %s\n", l)
	}
	if more := len(lines) - shownLines; more > 0 {
		fmt.Fprintf(b, "  … and %d more: --json shows all\n", more)
	}
}

// String returns the line for people.
func (l Line) String() string {
	var b strings.Builder
	if l.Kind != kindFile {
		b.WriteString(l.Kind)
	}
	if l.Name != "" {
		fmt.Fprintf(&b, " %q", l.Name)
	}
	if l.ID != "" && l.ID != l.Name {
		b.WriteString(" " + l.ID)
	}
	if l.Version != nil {
		fmt.Fprintf(&b, " version %d", *l.Version)
	}
	if l.File != "" {
		if b.Len() > 0 {
			fmt.Fprintf(&b, " (%s)", l.File)
		} else {
			b.WriteString(l.File)
		}
	}
	if l.To != "" {
		b.WriteString(" → " + l.To)
	}
	if l.Why != "" {
		b.WriteString(": " + l.Why)
	}
	return strings.TrimSpace(printable(b.String()))
}

// printable replaces control characters, with which a name of a file could steer the
// terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return '�'
		}
		return r
	}, s)
}
