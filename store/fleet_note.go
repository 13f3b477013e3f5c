package store

import (
	"context"
	"encoding/json"
	"time"
)

// FleetNoteKind is a kind of facts other than chats.
type FleetNoteKind string

// The kinds of notes. Each body is a JSON object.
const (
	FleetDeleted FleetNoteKind = "deleted" // {chat_group_id}
	FleetAct     FleetNoteKind = "act"     // an act, with the names of its fields in the API
	FleetWebhook FleetNoteKind = "webhook" // {id, chat_id, account, event, url, delivered, attempts, error}
	FleetHealth  FleetNoteKind = "health"  // as AddFleetHealth got it
	FleetDropped FleetNoteKind = "dropped" // {health, webhook, act, chats}: how many were dropped
)

// fleetBounds bounds the notes that wait for a hub which cannot be reached: a week of health
// by minutes, and of the others as many as take some 50 MB.
var fleetBounds = []struct {
	kind FleetNoteKind
	most int
}{{FleetHealth, 7 * 24 * 60}, {FleetWebhook, 50_000}, {FleetAct, 100_000}}

// trackChat begins to send a chat that starts, if the box is in a fleet that gets chats.
func trackChat(ctx context.Context, c conn, chatID string) error {
	return execute(ctx, c, `
		INSERT INTO fleet_chat (chat, sound)
		SELECT c.num, f.recordings = 1 AND EXISTS (SELECT 1 FROM recording WHERE chat = c.num)
		  FROM fleet f CROSS JOIN chat c WHERE f.chats = 1 AND c.id = ?`, chatID)
}

// noteChat notes that there is more of a chat, or that its row was changed.
func noteChat(ctx context.Context, c conn, chat int64) error {
	return execute(ctx, c, `UPDATE fleet_chat SET revision = revision + 1, waiting = 1 WHERE chat = ?`, chat)
}

// noteAmended notes that an event was changed, also one that is not sent yet: a message with it may be read already.
func noteAmended(ctx context.Context, c conn, chat, seq int64) error {
	if err := noteChat(ctx, c, chat); err != nil {
		return err
	}
	return execute(ctx, c, `
		INSERT INTO fleet_amended (chat, seq) SELECT chat, ?2 FROM fleet_chat WHERE chat = ?1
		    ON CONFLICT DO NOTHING`, chat, seq)
}

// noteDeletedGroup notes that somebody deleted a group, and that its chats are not sent any more.
func noteDeletedGroup(ctx context.Context, c conn, groupID string) error {
	if err := execute(ctx, c, `
		DELETE FROM fleet_chat WHERE chat IN (
		       SELECT num FROM chat WHERE chat_group = (SELECT num FROM chat_group WHERE id = ?))`,
		groupID); err != nil {
		return err
	}
	return execute(ctx, c, `
		INSERT INTO fleet_note (kind, at_ms, body) SELECT ?, ?, json_object('chat_group_id', ?) FROM fleet`,
		FleetDeleted, time.Now().UnixMilli(), groupID)
}

// noteExpired stops sending a chat whose retention is over. The hub keeps what it has of it,
// for as long as its own retention says.
func noteExpired(ctx context.Context, c conn, chat int64) error {
	if err := execute(ctx, c, `
		UPDATE fleet SET dropped_chats = dropped_chats + 1, dropped = dropped + 1
		 WHERE EXISTS (SELECT 1 FROM fleet_chat WHERE chat = ? AND waiting = 1)`, chat); err != nil {
		return err
	}
	return execute(ctx, c, `DELETE FROM fleet_chat WHERE chat = ?`, chat)
}

// noteWebhook notes what became of a webhook.
func noteWebhook(ctx context.Context, c conn, num, atMS int64) error {
	return execute(ctx, c, `
		INSERT INTO fleet_note (kind, at_ms, body)
		SELECT ?1, ?2, json_object('id', w.id, 'chat_id', w.chat, 'account', a.name, 'event', w.event, 'url', r.url,
		       'delivered', json(iif(w.state = 'delivered', 'true', 'false')), 'attempts', w.attempts,
		       'error', coalesce(w.last_error, ''))
		  FROM fleet f CROSS JOIN webhook w CROSS JOIN webhook_receiver r ON r.num = w.receiver
		 CROSS JOIN account a ON a.num = r.account
		 WHERE f.chats = 1 AND w.num = ?3`, FleetWebhook, atMS, num)
}

// noteAct notes an act.
func noteAct(ctx context.Context, c conn, num int64) error {
	return execute(ctx, c, `
		INSERT INTO fleet_note (kind, at_ms, body)
		SELECT ?1, a.at_ms, json_object('id', a.num, 'created_on', a.at_ms,
		       'who', json_object('kind', a.actor, 'id', a.actor_id, 'name', a.actor_name, 'role', a.actor_role),
		       'from', a.address, 'what', a.what,
		       'object', json_object('kind', a.kind, 'id', a.id, 'name', a.name),
		       'text', a.text, 'outcome', a.outcome, 'reason', a.why, 'times', a.times)
		  FROM fleet f CROSS JOIN act a WHERE a.num = ?2`, FleetAct, num)
}

// AddFleetHealth notes how the box is (a JSON object), and drops the oldest notes beyond
// their bounds. It does nothing if the box is in no fleet.
func (s *Store) AddFleetHealth(ctx context.Context, atMS int64, health string) error {
	err := s.change(ctx, "noting how the box is", func(ctx context.Context, c conn) error {
		if err := execute(ctx, c, `INSERT INTO fleet_note (kind, at_ms, body) SELECT ?, ?, ? FROM fleet`, FleetHealth,
			atMS, health); err != nil {
			return err
		}
		for _, b := range fleetBounds {
			if err := dropNotes(ctx, c, b.kind, b.most); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// dropNotes drops the oldest notes of a kind beyond most, and counts them. Notes in the
// message that is being sent stay.
func dropNotes(ctx context.Context, c conn, kind FleetNoteKind, most int) error {
	dropped, err := c.ExecContext(ctx, `
		DELETE FROM fleet_note WHERE kind = ?1
		   AND num <= (SELECT num FROM fleet_note WHERE kind = ?1 ORDER BY num DESC LIMIT 1 OFFSET ?2)
		   AND num > coalesce((SELECT part ->> 'notes' FROM fleet), 0)`, kind, most)
	if err != nil {
		return err
	}
	n, err := dropped.RowsAffected()
	if err != nil || n == 0 {
		return err
	}
	column := "dropped_" + string(kind)
	return execute(ctx, c, `UPDATE fleet SET `+column+` = `+column+` + ?1, dropped = dropped + ?1`, n)
}

// fleetDropped counts what was dropped and not told yet.
type fleetDropped struct {
	Health  int64 `json:"health,omitempty"`
	Webhook int64 `json:"webhook,omitempty"`
	Act     int64 `json:"act,omitempty"`
	Chats   int64 `json:"chats,omitempty"`
}

func (d fleetDropped) body() string {
	text, _ := json.Marshal(d) // numbers
	return string(text)
}

// FleetRecording returns the id of the first ended chat whose recording the hub is to get, or
// ErrNotFound.
func (s *Store) FleetRecording(ctx context.Context) (chatID string, err error) {
	chatID, err = value[string](ctx, s.read, `
		SELECT c.id FROM fleet_chat f CROSS JOIN chat c ON c.num = f.chat
		 WHERE f.sound = 1 AND c.ended_ms IS NOT NULL ORDER BY f.chat LIMIT 1`)
	return chatID, explain("looking for a recording to send", err)
}

// FleetRecordingSent records that the hub has the recording of a chat.
func (s *Store) FleetRecordingSent(ctx context.Context, chatID string) error {
	return s.change(ctx, "recording that the hub has a recording", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE fleet_chat SET sound = 0 WHERE chat = (SELECT num FROM chat WHERE id = ?)`,
			chatID)
	})
}
