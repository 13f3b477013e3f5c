package store

import (
	"context"
	"slices"
)

// ChatGroup is a chat and the chats that resumed it.
type ChatGroup struct {
	ID           string
	LastChatID   string    // of the newest chat
	LastConfig   ConfigRef // of the newest chat
	FirstStartMS int64     // Unix milliseconds
	LastStartMS  int64     // Unix milliseconds
	NumChats     int
	Active       bool // one of its chats is active
}

const groupColumns = ` g.id, g.last_chat, coalesce(g.last_config, ''), coalesce(g.last_config_version, 0),
	       g.first_start_ms, g.last_start_ms, g.num_chats,
	       EXISTS (SELECT 1 FROM chat WHERE chat_group = g.num AND status = 'ACTIVE') `

func scanGroup(row scanner) (g ChatGroup, err error) {
	return g, row.Scan(&g.ID, &g.LastChatID, &g.LastConfig.ID, &g.LastConfig.Version,
		&g.FirstStartMS, &g.LastStartMS, &g.NumChats, &g.Active)
}

// ChatGroups returns a page of an account's groups, oldest first, and the number of all
// of them. A configID restricts both to groups whose newest chat used that config.
func (s *Store) ChatGroups(ctx context.Context, accountID, configID string, page Page) ([]ChatGroup, int, error) {
	l := listing{
		columns: groupColumns,
		tables:  `chat_group g`,
		num:     `g.num`,
		rows:    `chat_group WHERE account = (SELECT num FROM account WHERE id = ?1)`,
		args:    []any{accountID},
	}
	if configID != "" {
		l.rows += ` AND last_config = ?2`
		l.args = append(l.args, configID)
	} else {
		l.total = `SELECT num_groups FROM account WHERE id = ?1`
	}
	groups, total, err := pageOf(ctx, s.read, l, page, scanGroup)
	return groups, total, explain("listing chat groups", err)
}

// ChatGroup returns a group of an account, a page of its chats with these statuses (none:
// any), and the number of such chats. The error is ErrNotFound if the account has no such
// group.
func (s *Store) ChatGroup(ctx context.Context, accountID, groupID string, statuses []Status, page Page) (g ChatGroup,
	chats []Chat, total int, err error) {
	err = s.read.snapshot(ctx, func(ctx context.Context, q querier) error {
		var num int64
		g, num, err = groupOf(ctx, q, accountID, groupID)
		if err != nil {
			return err
		}
		l := chatsOf(`chat WHERE chat_group = ?1`, num)
		l.total = `SELECT num_chats FROM chat_group WHERE num = ?1`
		l.statuses = statuses
		chats, total, err = pageOf(ctx, q, l, page, scanChat)
		return err
	})
	return g, chats, total, explain("reading chat group "+groupID, err)
}

func groupOf(ctx context.Context, q querier, accountID, groupID string) (g ChatGroup, num int64, err error) {
	num, err = value[int64](ctx, q, `SELECT num FROM chat_group WHERE id = ? AND`+ofAccount, groupID, accountID)
	if err != nil {
		return g, 0, err
	}
	g, err = first(ctx, q, scanGroup, `SELECT`+groupColumns+`FROM chat_group g WHERE g.num = ?`, num)
	return g, num, err
}

// groupLengths reads all chats of a group for every page: 3 µs a chat.
const groupLengths = `SELECT num, event_count FROM chat WHERE chat_group = ? ORDER BY num`

// GroupEvents returns a page of the events of all chats of a group, in order, and the
// number of all of them. Long texts are cut (see [Event]). The error is ErrNotFound if
// the account has no such group.
func (s *Store) GroupEvents(ctx context.Context, accountID, groupID string, page Page) (events []Event, total int,
	err error) {
	err = s.read.snapshot(ctx, func(ctx context.Context, q querier) error {
		group, err := value[int64](ctx, q, `SELECT num FROM chat_group WHERE id = ? AND`+ofAccount, groupID, accountID)
		if err != nil {
			return err
		}
		chats, err := query(ctx, q, scanLength, groupLengths, group)
		if err != nil {
			return err
		}
		for _, c := range chats {
			total += c.events
		}
		begin, end := page.bounds(total)
		events, err = eventsOf(ctx, q, chats, begin, end, page.bytesPerEvent())
		return err
	})
	if page.Descending {
		slices.Reverse(events)
	}
	return events, total, explain("reading events of chat group "+groupID, err)
}

// chatLength is the number of events of a chat.
type chatLength struct {
	num    int64
	events int
}

func scanLength(row scanner) (l chatLength, err error) { return l, row.Scan(&l.num, &l.events) }

// eventsOf reads the events from position begin to end, counted from 1 over all chats.
func eventsOf(ctx context.Context, q querier, chats []chatLength, begin, end, share int) ([]Event, error) {
	var events []Event
	for _, c := range chats {
		if begin <= c.events && end >= 1 && begin <= end {
			part, err := query(ctx, q, scanEvent, `SELECT`+eventColumns+`FROM chat c CROSS JOIN chat_event e ON `+
				`e.chat = c.num
				 WHERE c.num = ?2 AND e.seq BETWEEN ?3 AND ?4 ORDER BY e.seq`, share, c.num, begin, end)
			if err != nil {
				return nil, err
			}
			events = append(events, part...)
		}
		begin, end = begin-c.events, end-c.events
	}
	return events, nil
}
