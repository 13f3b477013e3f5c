package terminal

import (
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

const (
	// gap is the space between two columns of a table.
	gap = 2
	// readable is the least width of a column whose text is wrapped: three
	// words or so. With less, each row becomes a list of its own.
	readable = 18
)

// A Table is rows of text under a head, which may be missing.
type Table struct {
	Head []string
	Rows [][]string
}

// Add adds a row. Characters that would steer the terminal become blanks: what
// people called something may hold any.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, cell)
	}
	t.Rows = append(t.Rows, row)
}

// Write writes the table so that it fits into width columns: it wraps the
// widest of its own columns, and where they would become too narrow, writes
// each row as a list of its cells. With a width of 0 nothing is wrapped, for
// programs that read a line a row.
func (t *Table) Write(w io.Writer, width int) error {
	widths := t.widths()
	text := ""
	if fitted, ok := t.fit(widths, width); ok {
		if len(t.Head) > 0 {
			text = row(t.Head, fitted)
		}
		for _, cells := range t.Rows {
			text += row(cells, fitted)
		}
	} else {
		text = t.lists(width)
	}
	_, err := io.WriteString(w, text)
	return err
}

// widths are the columns' widths with nothing wrapped.
func (t *Table) widths() []int {
	var widths []int
	for _, cells := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], runewidth.StringWidth(cell))
		}
	}
	return widths
}

// fit narrows the widest columns until all fit into width; ok is false when
// one would be too narrow to read.
func (t *Table) fit(widths []int, width int) (fitted []int, ok bool) {
	fitted = append(fitted, widths...)
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; width > 0 && total > width; total-- {
		widest := 0
		for i, w := range fitted {
			if w >= fitted[widest] {
				widest = i
			}
		}
		if fitted[widest] <= readable {
			return nil, false
		}
		fitted[widest]--
	}
	return fitted, true
}

// row returns one row, of as many lines as its longest cell takes.
func row(cells []string, widths []int) string {
	wrapped, height := make([][]string, len(cells)), 1
	for i, cell := range cells {
		wrapped[i] = []string{cell}
		if runewidth.StringWidth(cell) > widths[i] {
			wrapped[i] = Wrap(cell, widths[i])
		}
		height = max(height, len(wrapped[i]))
	}
	var b strings.Builder
	for n := range height {
		line := ""
		for i := range cells {
			if i > 0 {
				line += strings.Repeat(" ", gap)
			}
			if n < len(wrapped[i]) {
				line += runewidth.FillRight(wrapped[i][n], widths[i])
			} else {
				line += strings.Repeat(" ", widths[i])
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// lists returns each row as its first cell and, below it, the others with
// their heads. Without a head the others are a paragraph.
func (t *Table) lists(width int) string {
	var b strings.Builder
	widest := 0
	for _, h := range t.Head[min(1, len(t.Head)):] {
		widest = max(widest, runewidth.StringWidth(h))
	}
	for _, cells := range t.Rows {
		if len(t.Head) == 0 {
			b.WriteString(Hang("", strings.Join(cells, " "), width) + "\n")
			continue
		}
		b.WriteString(cells[0] + "\n")
		for i, cell := range cells[1:] {
			if cell != "" {
				b.WriteString(Hang("  "+runewidth.FillRight(t.Head[i+1], widest)+"  ", cell, width) + "\n")
			}
		}
	}
	return b.String()
}
