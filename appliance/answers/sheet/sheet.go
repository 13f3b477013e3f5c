// Package sheet reads and writes approved answers as CSV, the format in which spreadsheets
// exchange tables. The columns are id, ask and say. A row is one way to ask for an answer, and
// say is in the first row of an answer.
package sheet

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"parley/appliance/contract"
)

// The columns of a sheet.
const (
	columnID  = "id"
	columnAsk = "ask"
	columnSay = "say"
)

// Problem is why a cell or a row is not allowed.
type Problem struct {
	Row    int    // as a spreadsheet counts: 1 is the header
	Column string // empty: the whole row
	Why    string
}

func (p Problem) Error() string {
	if p.Column == "" {
		return fmt.Sprintf("row %d: %s", p.Row, p.Why)
	}
	return fmt.Sprintf("row %d, %s: %s", p.Row, p.Column, p.Why)
}

// Problems are all that is not allowed in a sheet, in the order of its rows.
type Problems []Problem

// maxShown is of how many problems an error speaks: their text stays below the length to which
// the API cuts errors.
const maxShown = 10

// Error has a line for each problem.
func (p Problems) Error() string {
	var lines []string
	for _, one := range p[:min(len(p), maxShown)] {
		lines = append(lines, one.Error())
	}
	if more := len(p) - maxShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", more))
	}
	return strings.Join(lines, "\n")
}

// Write writes answers as UTF-8 with a byte order mark, without which Excel takes the text for
// Windows-1252. Read returns the same answers, but a carriage return in a text is a line feed.
func Write(w io.Writer, items []contract.AnswerItem) error {
	rows := [][]string{{columnID, columnAsk, columnSay}}
	for _, item := range items {
		say := item.Say
		for _, way := range item.Ask {
			rows = append(rows, []string{asText(item.ID), asText(way), asText(lineFeeds(say))})
			say = ""
		}
	}
	return writeRows(w, rows)
}

func writeRows(w io.Writer, rows [][]string) error {
	if _, err := io.WriteString(w, utf8Mark); err != nil {
		return err
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// lineFeeds replaces the line ends of Windows and of old Macs.
func lineFeeds(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}

// A spreadsheet evaluates a cell that begins with = + - or @ as a formula, also one that a
// visitor has typed as a question. An apostrophe in front makes it a text (OWASP, CSV injection).
// asText adds one, and fromText removes it. A cell that already begins with an apostrophe and
// looks like a formula behind it gets another one, so that fromText returns every cell as it was.
func asText(cell string) string {
	if isFormula(cell) {
		return "'" + cell
	}
	return cell
}

func fromText(cell string) string {
	if isFormula(cell) {
		return strings.TrimPrefix(cell, "'")
	}
	return cell
}

// isFormula reports whether a cell is a formula, apart from apostrophes before it.
func isFormula(cell string) bool {
	rest := strings.TrimLeft(cell, "'")
	return rest != "" && strings.ContainsRune("=+-@\t\r\n", rune(rest[0]))
}

// WriteQuestions writes questions that no answer fitted as the rows of a sheet in which say is
// empty. Questions that ask alike have the same id. The columns asked and last, which Read
// ignores, are how often and when.
func WriteQuestions(w io.Writer, all []contract.ReportedQuestion) error {
	rows := [][]string{{columnID, columnAsk, columnSay, "asked", "last"}}
	taken := map[string]bool{}
	for _, q := range all {
		id := freeID(q.Text, func(id string) bool { return taken[id] })
		taken[id] = true
		rows = append(rows, []string{asText(id), asText(q.Text), "", strconv.Itoa(q.Count),
			time.UnixMilli(q.LastOn).Format(time.DateOnly)})
		for _, other := range q.Texts {
			rows = append(rows, []string{asText(id), asText(other), "", "", ""})
		}
	}
	return writeRows(w, rows)
}
