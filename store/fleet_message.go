package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/google/uuid"
)

const (
	// fleetFacts is how many facts a message has at most, and fleetBytes how many bytes of
	// JSON: with the names of their fields they fit into the 1 MiB that a NATS server allows.
	fleetFacts = 500
	fleetBytes = 700 << 10
	// fleetOverhead is what a fact or an event counts besides its texts.
	fleetOverhead = 400
	// fleetEventText bounds the text of an event that takes a whole message: of control
	// characters, each takes six bytes as JSON.
	fleetEventText = fleetBytes / 8
)

// FleetMessage is one message to the hub. A box sends one at a time, the same again until it
// knows that the hub's stream has it.
type FleetMessage struct {
	ID    string // a UUID
	After int64  // number in the stream of the message before; 0: none
	Facts []FleetFact
}

// FleetFact is a chat with its new events, or a note.
type FleetFact struct {
	AtMS int64
	Chat *FleetChat // nil for a note
	Note FleetNoteKind
	Body string // JSON, of a note
}

// FleetChat is a chat as it stands, with events that the hub does not have.
type FleetChat struct {
	Chat
	Account string // its name
	Events  []Event
}

// fleetPart is what a message contains.
type fleetPart struct {
	Chats   []fleetChatPart `json:"chats,omitempty"`
	Notes   int64           `json:"notes,omitempty"` // the notes up to this number
	Dropped *fleetDropped   `json:"dropped,omitempty"`
}

// fleetChatPart is which events of a chat a message contains: those amended, and those after
// one up to another.
type fleetChatPart struct {
	Num     int64   `json:"num"`
	Amended []int64 `json:"amended,omitempty"`
	After   int64   `json:"after"`
	To      int64   `json:"to"`
}

// FleetMessage returns the message to send: the one whose fate is not known, or a new one. It
// returns ErrNotFound if there is nothing to send, or the box is in no fleet.
func (s *Store) FleetMessage(ctx context.Context) (FleetMessage, error) {
	const doing = "reading what the hub does not know"
	for {
		m, draft, err := s.readMessage(ctx)
		if err != nil || draft == nil {
			return m, explain(doing, err)
		}
		m.ID = uuid.NewString()
		err = s.claimMessage(ctx, m.ID, draft)
		if errors.Is(err, ErrConflict) {
			continue // another goroutine has made one
		}
		return m, err
	}
}

// readMessage returns the message that is being sent, or the draft of a new one.
func (s *Store) readMessage(ctx context.Context) (m FleetMessage, new *fleetDraft, err error) {
	err = s.read.snapshot(ctx, func(ctx context.Context, q querier) error {
		var part string
		var dropped fleetDropped
		err := scanFirst(ctx, q, []any{&m.ID, &m.After, &part, &dropped.Health, &dropped.Webhook, &dropped.Act,
			&dropped.Chats}, `
			SELECT coalesce(message, ''), last, coalesce(part, ''), dropped_health, dropped_webhook, dropped_act,
			       dropped_chats FROM fleet`)
		if err != nil {
			return err
		}
		if m.ID != "" {
			m.Facts, err = readPart(ctx, q, part)
			return err
		}
		new = &fleetDraft{room: fleetBytes}
		if err := new.fill(ctx, q, dropped); err != nil {
			return err
		}
		if m.Facts = new.facts; len(m.Facts) == 0 {
			return ErrNotFound
		}
		return nil
	})
	return m, new, err
}

// readPart reads what a message contained, as far as it still exists.
func readPart(ctx context.Context, q querier, text string) (facts []FleetFact, err error) {
	var part fleetPart
	if err := json.Unmarshal([]byte(text), &part); err != nil {
		return nil, err
	}
	for _, p := range part.Chats {
		chats, err := query(ctx, q, scanFleetChat, selectFleetChat+`AND f.chat = ?`, p.Num)
		if err != nil {
			return nil, err
		}
		for _, c := range chats { // one, or none that was deleted since
			events, err := fleetEvents(ctx, q, p, func(*Event) bool { return true })
			if err != nil {
				return nil, err
			}
			facts = append(facts, c.fact(events))
		}
	}
	notes, err := query(ctx, q, scanFleetNote, selectFleetNote+`WHERE num <= ? ORDER BY num`, part.Notes)
	for _, n := range notes {
		facts = append(facts, n.FleetFact)
	}
	if part.Dropped != nil {
		facts = append(facts, FleetFact{Note: FleetDropped, Body: part.Dropped.body()})
	}
	return facts, err
}

// fleetRow is a chat of which something waits.
type fleetRow struct {
	num, sent, revision int64
	chat                FleetChat
}

const selectFleetChat = `
	SELECT f.chat, f.sent, f.revision, a.name,` + chatColumns + `
	  FROM fleet_chat f CROSS JOIN chat c ON c.num = f.chat CROSS JOIN chat_group g ON g.num = c.chat_group
	 CROSS JOIN account a ON a.num = c.account WHERE g.account <> 0 `

func scanFleetChat(row scanner) (r fleetRow, err error) {
	c := &r.chat.Chat
	return r, row.Scan(&r.num, &r.sent, &r.revision, &r.chat.Account, &c.ID, &c.GroupID, &c.AccountID, &c.Config.ID,
		&c.Config.Version, &c.Status, &c.StartedMS, &c.EndedMS, &c.RequestID, &c.CustomSessionID, &c.Metadata,
		&c.EventCount)
}

// fact returns the fact of a chat with these events.
func (r fleetRow) fact(events []Event) FleetFact {
	f := FleetFact{AtMS: max(r.chat.StartedMS, r.chat.EndedMS), Chat: &r.chat}
	f.Chat.Events = events
	if len(events) > 0 {
		f.AtMS = max(f.AtMS, events[len(events)-1].AtMS)
	}
	return f
}

type fleetNote struct {
	num int64
	FleetFact
}

const selectFleetNote = `SELECT num, kind, at_ms, body FROM fleet_note `

func scanFleetNote(row scanner) (n fleetNote, err error) {
	return n, row.Scan(&n.num, &n.Note, &n.AtMS, &n.Body)
}

// fleetEvents reads the events of a part whole, in order, until one does not fit.
func fleetEvents(ctx context.Context, q querier, p fleetChatPart, fits func(*Event) bool) (events []Event,
	err error) {
	amended, err := json.Marshal(p.Amended)
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, `SELECT`+eventColumns+`FROM chat c CROSS JOIN chat_event e ON e.chat = c.num
		 WHERE c.num = ?2 AND (e.seq BETWEEN ?3 + 1 AND ?4 OR e.seq IN (SELECT value FROM json_each(?5)))
		 ORDER BY e.seq`, 2*maxEventText, p.Num, p.After, p.To, string(amended))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		e, err := scanEvent(rows)
		if err != nil {
			return nil, err
		}
		if !fits(&e) {
			break
		}
		events = append(events, e)
	}
	return events, rows.Err()
}

func scanSeq(row scanner) (seq int64, err error) { return seq, row.Scan(&seq) }

// fleetDraft is a new message.
type fleetDraft struct {
	part  fleetPart
	rows  []fleetClaim
	facts []FleetFact
	room  int // bytes
}

// fleetClaim is what the row of a chat becomes when its part is in a message.
type fleetClaim struct {
	Num      int64 `json:"num"`
	Revision int64 `json:"revision"` // for which the rest holds
	Last     int64 `json:"last"`     // the last event in the message; 0: none
	Waiting  int   `json:"waiting"`
}

// takes reports whether something of so many bytes fits. The first thing always does.
func (d *fleetDraft) takes(size int) bool {
	if size > d.room && len(d.facts) > 0 {
		return false
	}
	d.room -= size
	return true
}

func (d *fleetDraft) fill(ctx context.Context, q querier, dropped fleetDropped) error {
	chats, err := query(ctx, q, scanFleetChat, selectFleetChat+`AND f.waiting = 1 ORDER BY f.chat LIMIT ?`, fleetFacts)
	if err != nil {
		return err
	}
	for _, c := range chats {
		if d.room <= 0 {
			break
		}
		if err := d.addChat(ctx, q, c); err != nil {
			return err
		}
	}
	notes, err := query(ctx, q, scanFleetNote, selectFleetNote+`ORDER BY num LIMIT ?`, fleetFacts-len(d.facts))
	if err != nil {
		return err
	}
	for _, n := range notes {
		if !d.takes(fleetOverhead + encodedSize(n.Body)) {
			break
		}
		d.part.Notes, d.facts = n.num, append(d.facts, n.FleetFact)
	}
	if dropped != (fleetDropped{}) {
		d.part.Dropped = &dropped
		d.facts = append(d.facts, FleetFact{Note: FleetDropped, Body: dropped.body()})
	}
	return nil
}

// addChat adds a chat with as many of its waiting events as fit.
func (d *fleetDraft) addChat(ctx context.Context, q querier, c fleetRow) error {
	if !d.takes(fleetOverhead + encodedSize(c.chat.Metadata) + encodedSize(c.chat.CustomSessionID)) {
		d.room = 0
		return nil
	}
	part := fleetChatPart{Num: c.num, After: c.sent, To: int64(c.chat.EventCount)}
	var err error
	part.Amended, err = query(ctx, q, scanSeq, `SELECT seq FROM fleet_amended WHERE chat = ? ORDER BY seq`, c.num)
	if err != nil {
		return err
	}
	full, taken := false, 0
	events, err := fleetEvents(ctx, q, part, func(e *Event) bool {
		size := e.encodedSize()
		if size > d.room && taken == 0 && len(d.facts) == 0 {
			*e = e.bounded(fleetEventText, fleetEventText)
			size = min(e.encodedSize(), d.room)
		}
		if full = size > d.room; full {
			return false
		}
		d.room, taken = d.room-size, taken+1
		return true
	})
	if err != nil {
		return err
	}
	claim := fleetClaim{Num: c.num, Revision: c.revision}
	if len(events) > 0 {
		claim.Last = events[len(events)-1].Seq
	}
	if full {
		claim.Waiting = 1
		d.room = 0
		part.To = max(c.sent, claim.Last)
		part.Amended = slices.DeleteFunc(part.Amended, func(seq int64) bool { return seq > claim.Last })
	}
	d.part.Chats = append(d.part.Chats, part)
	d.rows = append(d.rows, claim)
	d.facts = append(d.facts, c.fact(events))
	return nil
}

// encodedSize returns how many bytes a text takes as JSON.
func encodedSize(text string) int {
	encoded, _ := json.Marshal(text) // of a text it never fails
	return len(encoded)
}

func (e Event) encodedSize() int {
	return fleetOverhead + encodedSize(e.MessageText) + len(e.EmotionFeatures) + encodedSize(e.Metadata)
}

// claimMessage stores what a new message contains, before it is sent.
func (s *Store) claimMessage(ctx context.Context, id string, d *fleetDraft) error {
	part, err := json.Marshal(d.part)
	if err != nil {
		return err
	}
	rows, err := json.Marshal(d.rows)
	if err != nil {
		return err
	}
	var told fleetDropped
	if d.part.Dropped != nil {
		told = *d.part.Dropped
	}
	return s.change(ctx, "preparing a message to the hub", func(ctx context.Context, c conn) error {
		err := changeOne(ctx, c, `
			UPDATE fleet SET message = ?, part = ?, dropped_health = dropped_health - ?,
			       dropped_webhook = dropped_webhook - ?, dropped_act = dropped_act - ?,
			       dropped_chats = dropped_chats - ? WHERE message IS NULL`,
			id, string(part), told.Health, told.Webhook, told.Act, told.Chats)
		if errors.Is(err, ErrNotFound) {
			if _, gone := value[int64](ctx, c, `SELECT one FROM fleet`); gone != nil {
				return gone
			}
			return ErrConflict
		}
		if err != nil {
			return err
		}
		// A chat that was changed in the meantime goes on waiting, and what of it was amended
		// is sent again.
		if err := execute(ctx, c, `
			DELETE FROM fleet_amended WHERE EXISTS (
			       SELECT 1 FROM json_each(?) w JOIN fleet_chat f ON f.chat = w.value ->> 'num'
			          AND f.revision = w.value ->> 'revision'
			        WHERE f.chat = fleet_amended.chat AND fleet_amended.seq <= w.value ->> 'last')`,
			string(rows)); err != nil {
			return err
		}
		return execute(ctx, c, `
			UPDATE fleet_chat SET sent = max(sent, w.value ->> 'last'),
			       waiting = iif(revision = w.value ->> 'revision', w.value ->> 'waiting', 1)
			  FROM json_each(?) w WHERE fleet_chat.chat = w.value ->> 'num'`, string(rows))
	})
}

// FleetMessageStored records that the hub's stream has the message with an id, under this
// number. It does nothing if the message is not the one that is being sent.
func (s *Store) FleetMessageStored(ctx context.Context, id string, num int64) error {
	return s.change(ctx, "recording that the hub has a message", func(ctx context.Context, c conn) error {
		if err := execute(ctx, c, `
			DELETE FROM fleet_note WHERE num <= (SELECT part ->> 'notes' FROM fleet WHERE message = ?)`,
			id); err != nil {
			return err
		}
		return execute(ctx, c, `UPDATE fleet SET last = ?, message = NULL, part = NULL WHERE message = ?`, num, id)
	})
}

// amendedLately is for how long after its end a chat may be amended, with a margin.
const amendedLately = 60 * 60 * 1000

// FollowFleetMessage sends from now on after the message with this number, which another copy
// of this database has sent: a backup was restored. The chats that may have changed between
// the backup and that message are sent whole.
func (s *Store) FollowFleetMessage(ctx context.Context, num int64) error {
	return s.change(ctx, "following the messages of another copy", func(ctx context.Context, c conn) error {
		if err := execute(ctx, c, `UPDATE fleet SET last = ?`, num); err != nil {
			return err
		}
		return execute(ctx, c, `
			UPDATE fleet_chat SET sent = 0, waiting = 1, revision = revision + 1 WHERE chat IN (
			       SELECT num FROM chat WHERE ended_ms IS NULL
			        UNION ALL
			       SELECT num FROM chat
			        WHERE ended_ms >= (SELECT max(ended_ms) FROM chat WHERE ended_ms IS NOT NULL) - ?)`,
			amendedLately)
	})
}
