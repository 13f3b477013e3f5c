package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// blockBits: rows are counted in blocks of 512 numbers. A list of 100,000 has
// 200 counts to add up, and a page begins at most 511 index entries into its
// block: both are tens of microseconds.
const blockBits = 9

// ChatFilter says which chats of an account or group a list is of.
type ChatFilter struct {
	ConfigID string   // that used this config; empty: any
	Statuses []Status // one of these; none: any
}

// Chats returns a page of an account's chats, in the order in which they began,
// and how many there are.
func (s *Store) Chats(ctx context.Context, accountID string, f ChatFilter, page Page) (chats []Chat, total int, err error) {
	err = s.read.look(ctx, func(ctx context.Context, q querier) error {
		account, err := value[int64](ctx, q, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return fmt.Errorf("account %s: %w", accountID, err)
		}
		l := listing{counts: `sum(chats) FROM chat_count WHERE account = ?1 AND config = ?2`, rows: `chat WHERE account = ?1`,
			of: account, config: f.ConfigID, statuses: f.Statuses}
		if f.ConfigID != "" {
			l.rows += ` AND config = ?2`
		}
		chats, total, err = l.chats(ctx, q, page)
		return err
	})
	return chats, total, explain("listing chats", err)
}

// listing is a list of chats or groups: where its rows are counted, by block,
// and where they are. In both texts ?1 is whose rows they are and ?2 the config.
type listing struct {
	counts, rows string
	of           int64
	config       string
	statuses     []Status
}

func (l listing) chats(ctx context.Context, q querier, page Page) ([]Chat, int, error) {
	return pageOf(ctx, q, l, page, selectChat+`WHERE c.num IN (%s) ORDER BY c.num`, scanChat)
}

// pageOf reads the rows of one page by selection, whose %s is the query for
// their numbers.
func pageOf[T any](ctx context.Context, q querier, l listing, page Page, selection string, scan func(scanner) (T, error)) ([]T, int, error) {
	counted, args := l.count()
	counts, err := query(ctx, q, scanBlock, counted, args...)
	if err != nil {
		return nil, 0, err
	}
	first, last := page.bounds(sumOf(counts))
	if first > last {
		return nil, sumOf(counts), nil
	}
	block, within := locate(counts, first)
	numbers, args := l.numbers(block, within, last-first+1)
	found, err := query(ctx, q, scan, fmt.Sprintf(selection, numbers), args...)
	if page.Descending {
		slices.Reverse(found)
	}
	return found, sumOf(counts), err
}

// count is the query for the counts of a listing.
func (l listing) count() (text string, args []any) {
	args = []any{l.of, l.config}
	text = `SELECT block, ` + l.counts
	if len(l.statuses) > 0 {
		marks := make([]string, len(l.statuses))
		for i, status := range l.statuses {
			args = append(args, status)
			marks[i] = fmt.Sprintf("?%d", len(args))
		}
		text += ` AND status IN (` + strings.Join(marks, ", ") + `)`
	}
	return text + ` GROUP BY block ORDER BY block`, args
}

// numbers is the query for the numbers of size rows from the skip-th of a block
// on. Of several statuses it merges the ranges of an index, one for each.
func (l listing) numbers(block int64, skip, size int) (text string, args []any) {
	args = []any{l.of, l.config, block << blockBits, size, skip}
	ranges := []string{`SELECT num FROM ` + l.rows + ` AND num >= ?3`}
	if len(l.statuses) > 0 {
		ranges = nil
		for _, status := range slices.Compact(slices.Sorted(slices.Values(l.statuses))) {
			args = append(args, status)
			ranges = append(ranges, fmt.Sprintf(`SELECT num FROM %s AND status = ?%d AND num >= ?3`, l.rows, len(args)))
		}
	}
	return strings.Join(ranges, ` UNION ALL `) + ` ORDER BY num LIMIT ?4 OFFSET ?5`, args
}

// blockCount says how many rows of a list lie in a block.
type blockCount struct {
	block int64
	rows  int
}

func scanBlock(row scanner) (b blockCount, err error) { return b, row.Scan(&b.block, &b.rows) }

func sumOf(counts []blockCount) (total int) {
	for _, c := range counts {
		total += c.rows
	}
	return total
}

// locate returns the block in which the row at a place, from 1, lies, and how
// many of its rows are before it.
func locate(counts []blockCount, place int) (block int64, before int) {
	before = place - 1
	for _, c := range counts {
		if before < c.rows {
			return c.block, before
		}
		before -= c.rows
	}
	return 0, before
}
