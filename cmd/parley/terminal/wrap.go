// Package terminal lays text out for a terminal of some width: paragraphs and
// tables. Widths are in columns, of which a wide character takes two.
package terminal

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// Wrap returns the words of text in lines of at most width columns. A word that
// is longer than that has a line of its own and is left whole, so that paths
// and addresses can be copied. With a width of 0 or less there is one line.
func Wrap(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		w := runewidth.StringWidth(word)
		switch {
		case line == "":
			line, used = word, w
		case width > 0 && used+1+w > width:
			lines = append(lines, line)
			line, used = word, w
		default:
			line, used = line+" "+word, used+1+w
		}
	}
	return append(lines, line)
}

// Hang wraps text with first before its first line and as many spaces before
// the others, all within width columns.
func Hang(first, text string, width int) string {
	indent := runewidth.StringWidth(first)
	if width > 0 {
		width = max(width-indent, 1)
	}
	lines := Wrap(text, width)
	return strings.TrimRight(first+strings.Join(lines, "\n"+strings.Repeat(" ", indent)), " ")
}
