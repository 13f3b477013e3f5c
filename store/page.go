package store

import (
	"context"
	"strings"
)

// Page is a piece of a list.
type Page struct {
	Number     int // from 0
	Size       int // rows on a page, 1 or more
	Descending bool
}

// farthest is the greatest number of rows that a page may pass over; no list is
// that long.
const farthest = 1 << 40

// skip is how many rows are before the page; ok is false where there cannot be
// as many.
func (p Page) skip() (rows int, ok bool) {
	if p.Size < 1 || p.Number < 0 || p.Number > farthest/p.Size {
		return 0, false
	}
	return p.Number * p.Size, true
}

// bounds returns the first and last of the page's places among 1 to total, the
// last before the first when the page is past the end.
func (p Page) bounds(total int) (first, last int) {
	skip, ok := p.skip()
	if !ok || skip > total {
		skip = total
	}
	first, last = skip+1, min(skip+p.Size, total)
	if p.Descending {
		first, last = total-last+1, total-skip
	}
	return first, last
}

// counted is a row whose last column is how many rows the whole list has.
type counted struct {
	scanner
	total *int
}

func (c counted) Scan(columns ...any) error { return c.scanner.Scan(append(columns, c.total)...) }

// counting is scan of rows whose last column is the total.
func counting[T any](scan func(scanner) (T, error), total *int) func(scanner) (T, error) {
	return func(row scanner) (T, error) { return scan(counted{row, total}) }
}

// listing is a list of chats or of groups: where its rows are. In rows ?1 is
// whose they are. The other conditions are in more, with their values in args
// from ?2 on.
type listing struct {
	columns  string // what is read of each row
	tables   string // from where: the table itself, and what is joined to it
	num      string // the table's number, by which the list is ordered
	rows     string // FROM and WHERE of the numbers
	args     []any
	statuses []Status // of these, or of any where there are none
	total    string   // the query for the length of the list, where that is kept; else it is counted
}

// pageOf reads a page and the length of the list in one statement, so both of
// one moment. What has to be counted or passed over is so along an index, which
// containsAll all that is asked for.
func pageOf[T any](ctx context.Context, q querier, l listing, page Page, scan func(scanner) (T, error)) (found []T,
	total int, err error) {
	count, numbers, args := l.queries()
	if skip, ok := page.skip(); ok {
		order := ` ASC`
		if page.Descending {
			order = ` DESC`
		}
		found, err = query(ctx, q, counting(scan, &total), `
			SELECT `+l.columns+`, (`+count+`) FROM `+l.tables+`
			 WHERE `+l.num+` IN (`+numbers+` ORDER BY num`+order+` LIMIT ? OFFSET ?) ORDER BY `+l.num+order,
			append(args, page.Size, skip)...)
		if err != nil || len(found) > 0 || skip == 0 {
			return found, total, err
		}
	}
	total, err = value[int](ctx, q, count, args...) // the page is past the end
	return nil, total, err
}

// queries are the one that counts the rows and the one for their numbers. Of
// several statuses the second merges the ranges of an index, one for each.
func (l listing) queries() (count, numbers string, args []any) {
	count, numbers, args = `SELECT count(*) FROM `+l.rows, `SELECT num FROM `+l.rows, l.args
	if len(l.statuses) == 0 {
		if l.total != "" {
			count = l.total
		}
		return count, numbers, args
	}
	var marks, ranges []string
	for _, status := range distinct(l.statuses) {
		args = append(args, status)
		mark := parameter(len(args))
		marks = append(marks, mark)
		ranges = append(ranges, numbers+` AND status = `+mark)
	}
	return count + ` AND status IN (` + strings.Join(marks, ", ") + `)`, strings.Join(ranges, ` UNION ALL `), args
}
