package sheet

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// row is a row of a sheet that is not empty.
type row struct {
	number       int
	id, ask, say string
}

// table is the text of a sheet while its rows are read.
type table struct {
	text   string
	csv    *csv.Reader
	begins int64 // where the next row begins in the text
	number int   // of the row that was read last
}

func newTable(text string, separator rune) *table {
	t := &table{text: text, csv: csv.NewReader(strings.NewReader(text))}
	t.csv.Comma, t.csv.FieldsPerRecord = separator, -1
	return t
}

// next returns the cells of the next row. It counts the empty lines that encoding/csv skips; a
// line break in a cell begins no row. The error is io.EOF behind the last row.
func (t *table) next() ([]string, error) {
	cells, err := t.csv.Read()
	if err == io.EOF {
		return nil, err
	}
	ends := t.csv.InputOffset()
	for line := range strings.Lines(t.text[t.begins:ends]) {
		t.number++
		if strings.Trim(line, "\r\n") != "" {
			break
		}
	}
	t.begins = ends
	if err == nil {
		return cells, nil
	}
	why := err.Error()
	if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
		why = wrong.Err.Error()
	}
	return nil, Problem{t.number, "", why + `; a quotation mark in a cell is written twice, and the cell ` +
		`in quotation marks: "Say ""hello"""`}
}

// columns are the positions of the columns in a row; -1 is a column that is not there.
type columns struct {
	id, ask, say int
	names        []string // as written
}

// findColumns returns the columns that a header names, in any order and case.
func findColumns(header []string) (c columns, err error) {
	c = columns{-1, -1, -1, header}
	for i, name := range header {
		at := map[string]*int{columnID: &c.id, columnAsk: &c.ask, columnSay: &c.say}[plainName(name)]
		switch {
		case at == nil:
		case *at >= 0:
			return c, fmt.Errorf("the column %s is there twice", plainName(name))
		default:
			*at = i
		}
	}
	if c.ask < 0 || c.say < 0 {
		return c, fmt.Errorf("has the columns %.200q: the first row of a sheet names id, ask and say", header)
	}
	return c, nil
}

func plainName(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// separators are what spreadsheets put between cells: a semicolon where the comma is the decimal
// point.
const separators = ",;\t"

// open returns the table of a text with its columns. Its separator is the one with which the
// header has the columns of a sheet, or the one that the first line names as sep=; (of Excel).
func open(text string) (*table, columns, error) {
	tried, above := separators, 0
	first, rest, _ := strings.Cut(text, "\n")
	if named, is := strings.CutPrefix(strings.TrimRight(first, "\r"), "sep="); is && len(named) == 1 {
		tried, text, above = named, rest, 1
	}
	var failed error
	for _, separator := range tried {
		t := newTable(text, separator)
		t.number = above
		header, err := t.next()
		var c columns
		if err == nil {
			c, err = findColumns(header)
			err = inRow(t.number, err)
		}
		if err == nil {
			return t, c, nil
		}
		if failed == nil || len(header) > 1 {
			failed = err
		}
	}
	if failed == io.EOF {
		failed = errors.New("the sheet is empty: its first row names the columns id, ask and say")
	}
	return nil, columns{}, failed
}

func inRow(number int, err error) error {
	if err == nil {
		return nil
	}
	return Problem{number, "", err.Error()}
}

// row returns the cells of a row by their columns, and which columns are not of a sheet and have
// something in this row.
func (c columns) row(number int, cells []string) (r row, others []string, err error) {
	if behind := cells[min(len(c.names), len(cells)):]; slices.ContainsFunc(behind, isFull) {
		return r, nil, Problem{number, "", fmt.Sprintf("has %d cells, and the header %d: %.80q is too much; a text "+
			`with the separator is written in quotation marks: "from ten, daily"`, len(cells), len(c.names),
			strings.TrimSpace(strings.Join(behind, " ")))}
	}
	r.number = number
	for i, cell := range cells {
		if cell = fromText(cell); !isFull(cell) {
			continue
		}
		switch i {
		case c.id:
			r.id = strings.TrimSpace(cell)
		case c.ask:
			r.ask = lineFeeds(cell)
		case c.say:
			r.say = lineFeeds(cell)
		default:
			if i < len(c.names) {
				others = append(others, strings.TrimSpace(c.names[i]))
			}
		}
	}
	return r, others, nil
}

func isFull(cell string) bool { return strings.TrimSpace(cell) != "" }
