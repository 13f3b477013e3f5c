package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// HubBox is a box of a hub.
type HubBox struct {
	Name      string
	Groups    []string
	PublicKey string // of its credentials
	AddedMS   int64  // Unix milliseconds
	JoinedMS  int64  // when its credentials were made
	SeenMS    int64  // when its newest state came; 0: never
	State     json.RawMessage
	FactSeq   uint64 // position in the stream of its newest stored message
	Revision  int64  // of what it is to run
	WantHash  []byte
}

const selectHubBox = `
	SELECT b.name, b.member_of, b.public_key, b.added_ms, b.joined_ms, coalesce(b.seen_ms, 0), b.state, b.fact_seq,
	       b.revision, b.want_hash
	  FROM hub_box b WHERE b.removed_ms IS NULL `

func scanHubBox(row scanner) (b HubBox, err error) {
	var groups string
	var state sql.NullString
	err = row.Scan(&b.Name, &groups, &b.PublicKey, &b.AddedMS, &b.JoinedMS, &b.SeenMS, &state, &b.FactSeq,
		&b.Revision, &b.WantHash)
	if err != nil {
		return b, err
	}
	if state.Valid {
		b.State = json.RawMessage(state.String)
	}
	return b, json.Unmarshal([]byte(groups), &b.Groups)
}

// HubBoxes returns the boxes of the hub, by name.
func (s *Store) HubBoxes(ctx context.Context) ([]HubBox, error) {
	all, err := query(ctx, s.read, scanHubBox, selectHubBox+`ORDER BY b.name`)
	return all, explain("listing the boxes of the hub", err)
}

// HubBox returns a box of the hub, or ErrNotFound.
func (s *Store) HubBox(ctx context.Context, name string) (HubBox, error) {
	b, err := first(ctx, s.read, scanHubBox, selectHubBox+`AND b.name = ?`, name)
	return b, explain("finding box "+name, err)
}

// HubChats returns how many chats of a box are stored. That takes a second for ten million.
func (s *Store) HubChats(ctx context.Context, box string) (n int64, err error) {
	n, err = value[int64](ctx, s.read, `
		SELECT count(*) FROM hub_chat WHERE box = (SELECT num FROM hub_box WHERE name = ?)`, box)
	return n, explain("counting the chats of box "+box, err)
}

// AddHubBox adds a box, or one that was removed again. The error is ErrConflict if the hub has it.
func (s *Store) AddHubBox(ctx context.Context, b HubBox) error {
	return s.change(ctx, "adding box "+b.Name, func(ctx context.Context, c conn) error {
		groups, err := jsonList(b.Groups)
		if err != nil {
			return err
		}
		err = changeOne(ctx, c, `
			INSERT INTO hub_box (name, member_of, public_key, added_ms, joined_ms) VALUES (?1, ?2, ?3, ?4, ?4)
			    ON CONFLICT (name) DO UPDATE SET member_of = ?2, public_key = ?3, added_ms = ?4, joined_ms = ?4,
			       removed_ms = NULL, seen_ms = NULL, state = NULL, want_hash = NULL WHERE removed_ms IS NOT NULL`,
			b.Name, groups, b.PublicKey, b.AddedMS)
		if errors.Is(err, ErrNotFound) {
			return fmt.Errorf("the hub has it: %w", ErrConflict)
		}
		return err
	})
}

// jsonList returns names as a JSON list, which is never null.
func jsonList(names []string) (string, error) {
	text, err := json.Marshal(append([]string{}, names...))
	return string(text), err
}

// SetHubBoxGroups replaces the groups of a box. The error is ErrNotFound if the hub does not have it.
func (s *Store) SetHubBoxGroups(ctx context.Context, name string, groups []string) error {
	return s.change(ctx, "changing the groups of box "+name, func(ctx context.Context, c conn) error {
		text, err := jsonList(groups)
		if err != nil {
			return err
		}
		return changeOne(ctx, c, `UPDATE hub_box SET member_of = ? WHERE name = ? AND removed_ms IS NULL`, text, name)
	})
}

// SetHubBoxKey stores the public key of a box's new credentials.
func (s *Store) SetHubBoxKey(ctx context.Context, name, publicKey string, atMS int64) error {
	return s.change(ctx, "storing the key of box "+name, func(ctx context.Context, c conn) error {
		return changeOne(ctx, c,
			`UPDATE hub_box SET public_key = ?, joined_ms = ? WHERE name = ? AND removed_ms IS NULL`,
			publicKey, atMS, name)
	})
}

// RemoveHubBox removes a box. Its chats stay.
func (s *Store) RemoveHubBox(ctx context.Context, name string) error {
	return s.change(ctx, "removing box "+name, func(ctx context.Context, c conn) error {
		err := changeOne(ctx, c, `
			UPDATE hub_box SET removed_ms = ?, public_key = '' WHERE name = ? AND removed_ms IS NULL`,
			time.Now().UnixMilli(), name)
		if err != nil {
			return err
		}
		return execute(ctx, c, `DELETE FROM hub_rollout_box WHERE box = (SELECT num FROM hub_box WHERE name = ?)`, name)
	})
}

// SawHubBox stores the newest state (JSON) of a box.
func (s *Store) SawHubBox(ctx context.Context, name string, state json.RawMessage, atMS int64) error {
	return s.change(ctx, "storing the state of box "+name, func(ctx context.Context, c conn) error {
		return changeOne(ctx, c, `UPDATE hub_box SET state = ?, seen_ms = ? WHERE name = ? AND removed_ms IS NULL`,
			string(state), atMS, name)
	})
}

// HubWant is what a box is to run from a revision on.
type HubWant struct {
	Box      string
	Revision int64
	Hash     []byte
	Rollouts []int64 // what it is made of
}

// SetHubWant stores the revision of what a box is to run, before that is sent.
func (s *Store) SetHubWant(ctx context.Context, w HubWant) error {
	return s.change(ctx, "storing what box "+w.Box+" is to run", func(ctx context.Context, c conn) error {
		num, err := value[int64](ctx, c, `
			UPDATE hub_box SET revision = ?, want_hash = ? WHERE name = ? AND removed_ms IS NULL RETURNING num`,
			w.Revision, w.Hash, w.Box)
		if err != nil {
			return err
		}
		rollouts, err := json.Marshal(append([]int64{}, w.Rollouts...))
		if err != nil {
			return err
		}
		err = execute(ctx, c, `
			DELETE FROM hub_rollout_box WHERE box = ? AND rollout NOT IN (SELECT value FROM json_each(?))`,
			num, string(rollouts))
		if err != nil {
			return err
		}
		return execute(ctx, c, `
			INSERT INTO hub_rollout_box (rollout, box, revision) SELECT value, ?, ? FROM json_each(?) WHERE true
			    ON CONFLICT DO NOTHING`, num, w.Revision, string(rollouts))
	})
}

// FactsPosition is the last message of the stream of facts that is stored, with all before it.
type FactsPosition struct {
	Seq uint64
	ID  string
}

// FactsPosition returns up to where the stream of facts is stored; the zero position if nothing is.
func (s *Store) FactsPosition(ctx context.Context) (p FactsPosition, err error) {
	err = scanFirst(ctx, s.read, []any{&p.Seq, &p.ID}, `SELECT position, message FROM hub_stream`)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return p, explain("reading the position in the stream of facts", err)
}

// SetFactsPosition stores up to where the stream of facts is stored.
func (s *Store) SetFactsPosition(ctx context.Context, p FactsPosition) error {
	return s.change(ctx, "storing the position in the stream of facts", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `
			INSERT INTO hub_stream (id, position, message) VALUES (1, ?1, ?2)
			    ON CONFLICT DO UPDATE SET position = ?1, message = ?2`, p.Seq, p.ID)
	})
}

// ForgetFactsPosition makes all messages of the stream of facts new: it is another stream than before.
func (s *Store) ForgetFactsPosition(ctx context.Context) error {
	return s.change(ctx, "forgetting the position in the stream of facts", func(ctx context.Context, c conn) error {
		if err := execute(ctx, c, `UPDATE hub_box SET fact_seq = 0`); err != nil {
			return err
		}
		return execute(ctx, c, `DELETE FROM hub_stream`)
	})
}

// KnowHubBox adds a box that has credentials of the hub and is not in the database: that is restored from a backup
// from before it was added. It reports whether the box is new.
func (s *Store) KnowHubBox(ctx context.Context, name string, atMS int64) (added bool, err error) {
	err = s.change(ctx, "adding box "+name, func(ctx context.Context, c conn) error {
		result, err := c.ExecContext(ctx, `
			INSERT INTO hub_box (name, member_of, public_key, added_ms, joined_ms) VALUES (?1, '[]', '', ?2, ?2)
			    ON CONFLICT DO NOTHING`, name, atMS)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		added = n > 0
		return err
	})
	return added, err
}

// BoxOfChat returns the name of the box that a chat was on, and whether it is live; ErrNotFound if the hub has no such
// chat.
func (s *Store) BoxOfChat(ctx context.Context, chatID string) (box string, live bool, err error) {
	err = scanFirst(ctx, s.read, []any{&box, &live}, `
		SELECT b.name, c.ended_ms IS NULL FROM chat c JOIN hub_chat h ON h.chat = c.num JOIN hub_box b ON b.num = h.box
		 WHERE c.id = ?`, chatID)
	return box, live, explain("finding the box of chat "+chatID, err)
}

// BoxOfGroup returns the name of the box that has the newest chat of a group, or ErrNotFound.
func (s *Store) BoxOfGroup(ctx context.Context, groupID string) (box string, err error) {
	box, err = value[string](ctx, s.read, `
		SELECT b.name FROM chat_group g JOIN chat c ON c.chat_group = g.num JOIN hub_chat h ON h.chat = c.num
		  JOIN hub_box b ON b.num = h.box WHERE g.id = ? ORDER BY c.num DESC LIMIT 1`, groupID)
	return box, explain("finding the box of chat group "+groupID, err)
}

// FailedHubChats returns how many chats of a box ended as errors in a period, in Unix milliseconds.
func (s *Store) FailedHubChats(ctx context.Context, box string, sinceMS, untilMS int64) (n int, err error) {
	const day = int64(24 * time.Hour / time.Millisecond) // no chat is longer
	n, err = value[int](ctx, s.read, `
		SELECT count(*) FROM hub_box b JOIN hub_chat h ON h.box = b.num JOIN chat c ON c.num = h.chat
		 WHERE b.name = ?1 AND c.status = 'ERROR' AND c.ended_ms >= ?2 AND c.ended_ms < ?3
		   AND h.chat >= ?4`, box, sinceMS, untilMS,
		importedFirst+max(sinceMS-day, 0)*importedRows)
	return n, explain("counting failed chats of box "+box, err)
}
