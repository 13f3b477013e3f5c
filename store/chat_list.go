package store

import (
	"context"
	"slices"
	"strconv"
)

// ChatFilter says which chats of an account or group a list is of.
type ChatFilter struct {
	ConfigID string   // that used this config; empty: any
	Statuses []Status // one of these; none: any
}

// Chats returns a page of an account's chats, in the order in which they began,
// and how many there are.
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

func chatsOf(rows string, whose any) listing {
	return listing{
		columns: chatColumns,
		tables:  chatTables,
		num:     `c.num`,
		rows:    rows,
		args:    []any{whose},
	}
}

// distinct are the statuses, each once.
func distinct(statuses []Status) []Status {
	return slices.Compact(slices.Sorted(slices.Values(statuses)))
}

// parameter is the n-th parameter of a statement.
func parameter(n int) string { return "?" + strconv.Itoa(n) }
