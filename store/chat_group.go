package store

import (
	"context"
	"fmt"
	"slices"
)

// ChatGroup is a chat with those that resumed it.
type ChatGroup struct {
	ID           string
	LastChatID   string    // of the newest chat
	LastConfig   ConfigRef // that the newest chat used
	FirstStartMS int64     // Unix milliseconds
	LastStartMS  int64     // Unix milliseconds
	NumChats     int
	Active       bool // a chat of it goes on
}

const selectGroup = `
	SELECT g.id, g.last_chat, coalesce(g.last_config, ''), coalesce(g.last_config_version, 0),
	       g.first_start_ms, g.last_start_ms, g.num_chats,
	       EXISTS (SELECT 1 FROM chat WHERE chat_group = g.num AND status = 'ACTIVE')
	  FROM chat_group g `

func scanGroup(row scanner) (g ChatGroup, err error) { return g, row.Scan(g.columns()...) }

// columns are where those of selectGroup go.
func (g *ChatGroup) columns() []any {
	return []any{&g.ID, &g.LastChatID, &g.LastConfig.ID, &g.LastConfig.Version,
		&g.FirstStartMS, &g.LastStartMS, &g.NumChats, &g.Active}
}

// ChatGroups returns a page of an account's groups, in the order in which they
// began, and how many there are: of all, or of those whose newest chat used the
// config.
func (s *Store) ChatGroups(ctx context.Context, accountID, configID string, page Page) (groups []ChatGroup, total int, err error) {
	err = s.read.look(ctx, func(ctx context.Context, q querier) error {
		account, err := value[int64](ctx, q, `SELECT num FROM account WHERE id = ?`, accountID)
		if err != nil {
			return fmt.Errorf("account %s: %w", accountID, err)
		}
		l := listing{counts: `groups FROM group_count WHERE account = ?1 AND config = ?2`, rows: `chat_group WHERE account = ?1`,
			of: account, config: configID}
		if configID != "" {
			l.rows += ` AND last_config = ?2`
		}
		groups, total, err = pageOf(ctx, q, l, page, selectGroup+`WHERE g.num IN (%s) ORDER BY g.num`, scanGroup)
		return err
	})
	return groups, total, explain("listing chat groups", err)
}

// ChatGroup returns one group of an account with a page of its chats, and how
// many there are of these statuses; none means all. ErrNotFound: the account has
// no such group.
func (s *Store) ChatGroup(ctx context.Context, accountID, groupID string, statuses []Status, page Page) (g ChatGroup, chats []Chat, total int, err error) {
	err = s.read.look(ctx, func(ctx context.Context, q querier) error {
		var num int64
		g, num, err = groupOf(ctx, q, accountID, groupID)
		if err != nil {
			return err
		}
		l := listing{counts: `sum(chats) FROM group_chat_count WHERE chat_group = ?1`, rows: `chat WHERE chat_group = ?1`,
			of: num, statuses: statuses}
		chats, total, err = l.chats(ctx, q, page)
		return err
	})
	return g, chats, total, explain("reading chat group "+groupID, err)
}

func groupOf(ctx context.Context, q querier, accountID, groupID string) (g ChatGroup, num int64, err error) {
	num, err = value[int64](ctx, q, `SELECT num FROM chat_group WHERE id = ? AND`+mine, groupID, accountID)
	if err != nil {
		return g, 0, err
	}
	g, err = first(ctx, q, scanGroup, selectGroup+`WHERE g.num = ?`, num)
	return g, num, err
}

// GroupEvents returns a page of the events of all chats of an account's group,
// in their order, and how many there are. ErrNotFound: the account has no such
// group.
func (s *Store) GroupEvents(ctx context.Context, accountID, groupID string, page Page) (events []Event, total int, err error) {
	err = s.read.look(ctx, func(ctx context.Context, q querier) error {
		_, num, err := groupOf(ctx, q, accountID, groupID)
		if err != nil {
			return err
		}
		counts, err := query(ctx, q, scanBlock, `
			SELECT block, sum(events) FROM group_chat_count WHERE chat_group = ? GROUP BY block ORDER BY block`, num)
		if err != nil {
			return err
		}
		total = sumOf(counts)
		begin, end := page.bounds(total)
		if begin > end {
			return nil
		}
		block, before := locate(counts, begin)
		events, err = eventsFrom(ctx, q, num, block<<blockBits, before, end-begin+1)
		return err
	})
	if page.Descending {
		slices.Reverse(events)
	}
	return events, total, explain("reading events of chat group "+groupID, err)
}

// eventsFrom reads so many events of a group, after the first skip of its chats
// from the number chat on.
func eventsFrom(ctx context.Context, q querier, group, chat int64, skip, count int) ([]Event, error) {
	var events []Event
	for count > 0 {
		chats, err := query(ctx, q, scanLength, `
			SELECT num, event_count FROM chat WHERE chat_group = ? AND num >= ? ORDER BY num LIMIT 128`, group, chat)
		if err != nil || len(chats) == 0 {
			return events, err
		}
		for _, c := range chats {
			chat = c.num + 1
			if skip >= c.events {
				skip -= c.events
				continue
			}
			some, err := query(ctx, q, scanEvent, selectEvent+`
				 WHERE c.num = ? AND e.seq BETWEEN ? AND ? ORDER BY e.seq`, c.num, skip+1, skip+count)
			if err != nil {
				return nil, err
			}
			events = append(events, some...)
			if skip, count = 0, count-len(some); count == 0 {
				break
			}
		}
	}
	return events, nil
}

// chatLength says how many events a chat has.
type chatLength struct {
	num    int64
	events int
}

func scanLength(row scanner) (l chatLength, err error) { return l, row.Scan(&l.num, &l.events) }
