package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mattn/go-sqlite3"
)

// HubFact is one thing that happened on a box. Exactly one of the fields after AtMS is set.
type HubFact struct {
	AtMS int64 // Unix milliseconds

	Chat         *HubChat
	DeletedChat  string          // its id
	DeletedGroup string          // its id
	Health       json.RawMessage // a state of the box
	Other        *HubNote
}

// HubChat is a chat of a box as it stands now, with some of its events.
type HubChat struct {
	Chat           // AccountID is not set
	Account string // its name; it is created if it does not exist
	Events  []Event
}

// HubNote is a fact that is only listed.
type HubNote struct {
	Kind string
	Key  string // tells it from others of its kind; one that is stored is not stored again; may be empty
	Body json.RawMessage
}

// The kinds of listed facts.
const (
	HubAct      = "act"      // an administrative act
	HubWebhook  = "webhook"  // a webhook was delivered or given up
	HubDropped  = "dropped"  // the box dropped facts
	HubRejected = "rejected" // the hub could not store a fact of the box
)

// HubFactKinds lists the kinds of listed facts.
func HubFactKinds() []string { return []string{HubAct, HubWebhook, HubDropped, HubRejected} }

// maxHubFacts bounds the listed facts of all boxes: with 300 bytes each they take 300 MB. The oldest are deleted.
const maxHubFacts = 1_000_000

// maxBoxFacts bounds those of one box, so that a box which sends nonsense cannot push out the audit logs of all others.
// Counting them takes some milliseconds, so it is done at every boxFactsEvery-th fact.
const (
	maxBoxFacts   = 50_000
	boxFactsEvery = 1000
)

// StoreFacts stores one message of facts of a box, with its position in the stream, in one transaction. It does nothing
// if the message is stored already; stored is false then. A fact that cannot be stored, such as a chat that another box
// has, is listed as rejected. The error is ErrNotFound if the hub has no such box.
func (s *Store) StoreFacts(ctx context.Context, box string, seq uint64, facts []HubFact) (stored bool, err error) {
	var trashed bool
	err = s.change(ctx, "storing facts of box "+box, func(ctx context.Context, c conn) error {
		stored, trashed = false, false
		var num int64
		var last uint64
		if err := scanFirst(ctx, c, []any{&num, &last}, `SELECT num, fact_seq FROM hub_box WHERE name = ?`,
			box); err != nil {
			return err
		}
		if seq <= last {
			return nil
		}
		for _, f := range facts {
			deleted, err := storeFact(ctx, c, num, f)
			trashed = trashed || deleted
			if err != nil {
				return err
			}
		}
		stored = true
		return execute(ctx, c, `UPDATE hub_box SET fact_seq = ? WHERE num = ?`, seq, num)
	})
	if err == nil && trashed {
		s.background.nudge()
	}
	return stored, err
}

// storeFact stores one fact, or lists it as rejected. trashed reports whether it moved something into the trash.
func storeFact(ctx context.Context, c conn, box int64, f HubFact) (trashed bool, err error) {
	if err := execute(ctx, c, `SAVEPOINT fact`); err != nil {
		return false, err
	}
	trashed, err = storeAllowed(ctx, c, box, f)
	if err == nil {
		return trashed, execute(ctx, c, `RELEASE fact`)
	}
	refused := refusal(err)
	if refused == nil {
		return false, err
	}
	if err := execute(ctx, c, `ROLLBACK TO fact; RELEASE fact`); err != nil {
		return false, err
	}
	body, err := json.Marshal(map[string]string{"what": refused.what, "why": refused.why})
	if err != nil {
		return false, err
	}
	return false, addHubNote(ctx, c, box, f.AtMS, HubNote{Kind: HubRejected, Body: body})
}

// refusal returns why a fact is not stored, if an error says that it is not allowed: by the hub, or by a constraint of
// the database, such as JSON that is nested deeper than SQLite reads. If one fact could stop all that come after it,
// one box could stop the hub.
func refusal(err error) *refusedFact {
	var refused *refusedFact
	var fault sqlite3.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &fault) && fault.Code == sqlite3.ErrConstraint:
		return &refusedFact{"a fact", fault.Error()}
	}
	return nil
}

func storeAllowed(ctx context.Context, c conn, box int64, f HubFact) (trashed bool, err error) {
	switch {
	case f.Chat != nil:
		err = storeHubChat(ctx, c, box, *f.Chat)
	case f.DeletedChat != "":
		trashed, err = trashHubChats(ctx, c, box, `c.id = ?2`, f.DeletedChat)
	case f.DeletedGroup != "":
		trashed, err = trashHubChats(ctx, c, box, `c.chat_group = (SELECT num FROM chat_group WHERE id = ?2)`,
			f.DeletedGroup)
	case f.Health != nil:
		err = addHubHealth(ctx, c, box, f)
	case f.Other != nil:
		err = addHubNote(ctx, c, box, f.AtMS, *f.Other)
	}
	return trashed, err
}

// refusedFact is why a fact is not stored, though the database could.
type refusedFact struct{ what, why string }

func (r *refusedFact) Error() string { return r.what + ": " + r.why }

const (
	// maxHealth bounds a state, in bytes: they have 1 to 4 KB, of which 2 are a certificate.
	maxHealth = 16 << 10
	// maxAhead is how far the clock of a box may be ahead. States of later years would never be thinned.
	maxAhead = 24 * time.Hour
)

func addHubHealth(ctx context.Context, c conn, box int64, f HubFact) error {
	if len(f.Health) > maxHealth {
		return &refusedFact{"a state", fmt.Sprintf("it has %d bytes; %d are allowed", len(f.Health), maxHealth)}
	}
	if time.UnixMilli(f.AtMS).After(time.Now().Add(maxAhead)) {
		return &refusedFact{"a state", "its time is more than a day ahead: set the clock of the box"}
	}
	return execute(ctx, c, `INSERT INTO hub_health (box, at_ms, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
		box, f.AtMS, string(f.Health))
}

func addHubNote(ctx context.Context, c conn, box, atMS int64, n HubNote) error {
	num, err := value[int64](ctx, c, `
		INSERT INTO hub_fact (box, kind, at_ms, key, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING num`,
		box, n.Kind, atMS, orNull(n.Key), string(n.Body))
	if errors.Is(err, ErrNotFound) {
		return nil // it is stored
	}
	if err != nil {
		return err
	}
	if err := execute(ctx, c, `DELETE FROM hub_fact WHERE num <= ?`, num-maxHubFacts); err != nil {
		return err
	}
	if num%boxFactsEvery != 0 {
		return nil
	}
	return execute(ctx, c, `
		DELETE FROM hub_fact WHERE box = ?1 AND num <= (
		  SELECT num FROM hub_fact WHERE box = ?1 ORDER BY num DESC LIMIT 1 OFFSET ?2)`, box, maxBoxFacts)
}

// storeHubChat stores a chat and its events, or brings what is stored up to date.
func storeHubChat(ctx context.Context, c conn, box int64, chat HubChat) error {
	var num, account, owner int64
	err := scanFirst(ctx, c, []any{&num, &account, &owner}, `
		SELECT c.num, c.account, coalesce(h.box, 0) FROM chat c LEFT JOIN hub_chat h ON h.chat = c.num WHERE c.id = ?`,
		chat.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		if len(chat.Events) > 0 && chat.Events[0].Seq > 1 {
			// It was deleted on the hub while it went on: it must not come back in pieces.
			return &refusedFact{"chat " + chat.ID, "the hub does not have its beginning; it was deleted here"}
		}
		num, err = addHubChat(ctx, c, box, chat)
	case err == nil && account == 0:
		return &refusedFact{"chat " + chat.ID, "it was deleted on the hub"}
	case err == nil && owner != box:
		return &refusedFact{"chat " + chat.ID, "the hub has this chat from another box"}
	}
	if err != nil {
		return err
	}
	if err := execute(ctx, c, `
		UPDATE chat SET status = ?2, ended_ms = nullif(?3, 0), custom_session_id = ?4, metadata = ?5 WHERE num = ?1`,
		num, chat.Status, chat.EndedMS, orNull(chat.CustomSessionID), orNull(chat.Metadata)); err != nil {
		return err
	}
	if err := cutHubEvents(ctx, c, num, chat.EventCount); err != nil {
		return err
	}
	return storeHubEvents(ctx, c, num, chat.Events)
}

// cutHubEvents deletes the events of a chat behind the last one that its box has: a box that was restored from a backup
// has fewer than it sent.
func cutHubEvents(ctx context.Context, c conn, chat int64, last int) error {
	gone, err := value[int64](ctx, c, `
		SELECT coalesce(sum(coalesce(octet_length(message_text), 0) + coalesce(octet_length(emotion_features), 0) +
		  coalesce(octet_length(metadata), 0) + ?), 0) FROM chat_event WHERE chat = ? AND seq > ?`,
		eventBytes, chat, last)
	if err != nil || gone == 0 {
		return err
	}
	if err := execute(ctx, c, `DELETE FROM chat_event WHERE chat = ? AND seq > ?`, chat, last); err != nil {
		return err
	}
	return execute(ctx, c, `UPDATE chat SET event_count = min(event_count, ?), bytes = bytes - ? WHERE num = ?`,
		last, gone, chat)
}

// addHubChat adds a chat of a box, in the order of its start, and its group if the hub does not have it.
func addHubChat(ctx context.Context, c conn, box int64, chat HubChat) (num int64, err error) {
	account, _, err := accountNamed(ctx, c, chat.Account)
	if err != nil {
		return 0, err
	}
	other, err := value[bool](ctx, c, `
		SELECT EXISTS (SELECT 1 FROM chat_group g JOIN chat c ON c.chat_group = g.num
		  LEFT JOIN hub_chat h ON h.chat = c.num WHERE g.id = ? AND coalesce(h.box, 0) <> ?)`, chat.GroupID, box)
	if err != nil {
		return 0, err
	}
	if other {
		return 0, &refusedFact{"chat " + chat.ID, "its group has chats of another box"}
	}
	group, created, err := importGroup(ctx, c, account, chat.Chat)
	if errors.Is(err, ErrConflict) {
		return 0, &refusedFact{"chat " + chat.ID, "its group belongs to another account"}
	}
	if err != nil {
		return 0, err
	}
	if num, err = importedNum(ctx, c, "chat", chat.StartedMS); err != nil {
		return 0, err
	}
	if err := execute(ctx, c, `
		INSERT INTO chat (num, id, account, chat_group, config, config_version, status, started_ms, ended_ms,
		                  request_id, custom_session_id, metadata, bytes, sound_bytes)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?, 0)`,
		num, chat.ID, account, group, orNull(chat.Config.ID), chat.Config.version(), chat.Status, chat.StartedMS,
		chat.EndedMS, chat.RequestID, orNull(chat.CustomSessionID), orNull(chat.Metadata), chatBytes); err != nil {
		return 0, err
	}
	if err := execute(ctx, c, `INSERT INTO hub_chat (chat, box) VALUES (?, ?)`, num, box); err != nil {
		return 0, err
	}
	if err := execute(ctx, c,
		`UPDATE account SET num_chats = num_chats + 1, num_groups = num_groups + iif(?, 1, 0) WHERE num = ?`,
		created, account); err != nil {
		return 0, err
	}
	return num, updateGroup(ctx, c, group)
}

// storeHubEvents adds events to a chat, or replaces those that it has, at the places that they have on the box.
func storeHubEvents(ctx context.Context, c conn, chat int64, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	var size, last int64
	for _, e := range events {
		e = e.bounded(maxEventText, maxEventJSON)
		before, err := value[int64](ctx, c, `
			SELECT coalesce(octet_length(message_text), 0) + coalesce(octet_length(emotion_features), 0) +
			  coalesce(octet_length(metadata), 0) + ? FROM chat_event WHERE chat = ? AND seq = ?`,
			eventBytes, chat, e.Seq)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := execute(ctx, c, `
			INSERT INTO chat_event (chat, seq, id, at_ms, type, role, message_text, emotion_features, metadata,
			                        related_event_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			    ON CONFLICT DO UPDATE SET id = excluded.id, at_ms = excluded.at_ms, type = excluded.type,
			       role = excluded.role, message_text = excluded.message_text,
			       emotion_features = excluded.emotion_features, metadata = excluded.metadata,
			       related_event_id = excluded.related_event_id`,
			chat, e.Seq, e.ID, e.AtMS, e.Type, e.Role, orNull(e.MessageText), orNull(e.EmotionFeatures),
			orNull(e.Metadata), orNull(e.RelatedEventID)); err != nil {
			return err
		}
		size, last = size+e.size()-before, max(last, e.Seq)
	}
	return execute(ctx, c, `UPDATE chat SET event_count = max(event_count, ?), bytes = bytes + ? WHERE num = ?`,
		last, size, chat)
}

// trashHubChats moves chats of a box into the trash. A group without chats is deleted.
func trashHubChats(ctx context.Context, c conn, box int64, which, id string) (bool, error) {
	type found struct{ num, account, group int64 }
	chats, err := query(ctx, c, func(row scanner) (f found, err error) {
		return f, row.Scan(&f.num, &f.account, &f.group)
	}, `SELECT c.num, c.account, c.chat_group FROM chat c JOIN hub_chat h ON h.chat = c.num
		 WHERE h.box = ?1 AND c.account <> 0 AND `+which, box, id)
	if err != nil {
		return false, err
	}
	for _, f := range chats {
		if err := trashHubChat(ctx, c, f.num, f.account, f.group); err != nil {
			return false, fmt.Errorf("deleting a chat: %w", err)
		}
	}
	return len(chats) > 0, nil
}

func trashHubChat(ctx context.Context, c conn, num, account, group int64) error {
	if err := execute(ctx, c, `UPDATE chat SET account = 0, chat_group = 0 WHERE num = ?`, num); err != nil {
		return err
	}
	if err := execute(ctx, c, `UPDATE account SET num_chats = num_chats - 1 WHERE num = ?`, account); err != nil {
		return err
	}
	if err := leaveGroup(ctx, c, group); err != nil {
		return err
	}
	return execute(ctx, c, `
		UPDATE chat_group SET last_start_ms = newest.started_ms, last_chat = newest.id, last_config = newest.config,
		       last_config_version = newest.config_version
		  FROM (SELECT * FROM chat WHERE chat_group = ?1 ORDER BY num DESC LIMIT 1) AS newest
		 WHERE chat_group.num = ?1`, group)
}
