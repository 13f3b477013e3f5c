package store

import (
	"context"
	"slices"
	"strconv"
)

// ChatFilter restricts a list of chats. Empty fields restrict nothing.
type ChatFilter struct {
	ConfigID string   // the chat used this config
	Statuses []Status // the chat has one of these
}

// Chats returns a page of an account's chats, oldest first, and the number of all of
// them.
func (s *Store) Chats(ctx context.Context, accountID string, f ChatFilter, page Page) ([]Chat, int, error) {
	l := chatsOf(`chat WHERE account = (SELECT num FROM account WHERE id = ?1)`, accountID)
	if f.ConfigID != "" {
		l.rows += ` AND config = ?2`
		l.args = append(l.args, f.ConfigID)
	} else {
		l.total = `SELECT num_chats FROM account WHERE id = ?1`
	}
	l.statuses = f.Statuses
	chats, total, err := pageOf(ctx, s.read, l, page, scanChat)
	return chats, total, explain("listing chats", err)
}

func chatsOf(rows string, account any) listing {
	return listing{
		columns: chatColumns,
		tables:  chatTables,
		num:     `c.num`,
		rows:    rows,
		args:    []any{account},
	}
}

// distinct returns the statuses without duplicates.
func distinct(statuses []Status) []Status {
	return slices.Compact(slices.Sorted(slices.Values(statuses)))
}

// parameter returns the n-th parameter of a statement.
func parameter(n int) string { return "?" + strconv.Itoa(n) }
