package store

import (
	"context"
	"strings"
)

// Page selects a part of a list.
type Page struct {
	Number     int // from 0
	Size       int // rows a page, 1 or more
	Descending bool
}

// farthest bounds the rows that a page may skip; no list is that long.
const farthest = 1 << 40

// skip returns how many rows come before the page; ok is false if no list has as many.
func (p Page) skip() (rows int, ok bool) {
	if p.Size < 1 || p.Number < 0 || p.Number > farthest/p.Size {
		return 0, false
	}
	return p.Number * p.Size, true
}

// bounds returns the first and last position of the page among 1 to total. last is before
// first if the page is past the end.
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

// withLast is a row whose last column is scanned into last.
type withLast struct {
	scanner
	last any
}

func (w withLast) Scan(columns ...any) error { return w.scanner.Scan(append(columns, w.last)...) }

// counting returns scan for rows whose last column is the total.
func counting[T any](scan func(scanner) (T, error), total *int) func(scanner) (T, error) {
	return func(row scanner) (T, error) { return scan(withLast{row, total}) }
}

// listing describes a list of chats or groups for pageOf. In rows, ?1 is the owner;
// further conditions have their values in args from ?2 on.
type listing struct {
	columns  string // columns of each row
	tables   string // the table, and what is joined to it
	num      string // the table's number, by which the list is ordered
	rows     string // FROM and WHERE of the numbers
	args     []any
	statuses []Status // allowed statuses; none: any
	total    string   // query for the length of the list, if that is stored; else it is counted
}

// pageOf reads a page and the length of the list in one statement, so that both are of
// one moment. Counting and skipping use covering indexes only.
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

// queries returns the query that counts the rows and the query for their numbers. With
// several statuses the second merges ranges of an index, one a status.
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
