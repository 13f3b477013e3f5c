package store

import (
	"context"
	"errors"
	"time"
)

// A box in a fleet tells its hub what happens on it. The history itself is the outbox: a chat
// is marked in the transaction that changes it, and read from its own tables when it is sent.
// What is not in a table for good, such as what became of a webhook, is noted in the
// transaction too.

// Fleet is what a box in a fleet knows of it.
type Fleet struct {
	Box        string // the name of this box
	Hub        string // the name of the hub
	Chats      bool   // chats and what became of webhooks are sent
	Recordings bool   // recordings of ended chats are sent
	JoinedMS   int64  // Unix milliseconds; ignored by JoinFleet
	Running    int64  // the revision that was applied last; ignored by JoinFleet
}

// Fleet returns the fleet of the box, or ErrNotFound if it is in none.
func (s *Store) Fleet(ctx context.Context) (f Fleet, err error) {
	err = scanFirst(ctx, s.read, []any{&f.Box, &f.Hub, &f.Chats, &f.Recordings, &f.JoinedMS, &f.Running},
		`SELECT box, hub, chats, recordings, joined_ms, running FROM fleet`)
	return f, explain("reading what the box knows of its fleet", err)
}

// JoinFleet notes from now on what the hub does not know. What happened before stays on the
// box. Joining again changes what is sent: without Chats, what still waits of chats is not
// sent. A box that joins under another name or another hub begins anew.
func (s *Store) JoinFleet(ctx context.Context, f Fleet) error {
	err := s.change(ctx, "joining a fleet", func(ctx context.Context, c conn) error {
		had, err := first(ctx, c, func(row scanner) (f Fleet, err error) { return f, row.Scan(&f.Box, &f.Hub) },
			`SELECT box, hub FROM fleet`)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		if had.Box != f.Box || had.Hub != f.Hub {
			if err := forgetFleet(ctx, c); err != nil {
				return err
			}
		}
		if err := execute(ctx, c, `
			INSERT INTO fleet (one, box, hub, joined_ms, chats, recordings) VALUES (1, ?, ?, ?, ?, ?)
			    ON CONFLICT (one) DO UPDATE SET chats = excluded.chats, recordings = excluded.recordings`,
			f.Box, f.Hub, time.Now().UnixMilli(), f.Chats, f.Recordings); err != nil {
			return err
		}
		if !f.Chats {
			if err := execute(ctx, c, `DELETE FROM fleet_chat`); err != nil {
				return err
			}
			return execute(ctx, c, `DELETE FROM fleet_note WHERE kind = 'webhook'`)
		}
		if !f.Recordings {
			return execute(ctx, c, `UPDATE fleet_chat SET sound = 0 WHERE sound = 1`)
		}
		return nil
	})
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// LeaveFleet forgets the fleet. What its hub managed belongs to the box from now on, and
// settings that the hub made are gone. It does nothing if the box is in no fleet.
func (s *Store) LeaveFleet(ctx context.Context) error {
	if _, err := s.Fleet(ctx); errors.Is(err, ErrNotFound) {
		return nil
	}
	return s.change(ctx, "leaving the fleet", func(ctx context.Context, c conn) error {
		if err := forgetFleet(ctx, c); err != nil {
			return err
		}
		for _, table := range []string{"resource", "voice", "key", "plugin", "lexicon"} {
			if err := execute(ctx, c, `UPDATE `+table+` SET managed = 0 WHERE managed = 1`); err != nil {
				return err
			}
		}
		return execute(ctx, c, `DELETE FROM fleet_setting`)
	})
}

func forgetFleet(ctx context.Context, c conn) error {
	for _, table := range []string{"fleet_chat", "fleet_note", "fleet"} {
		if err := execute(ctx, c, `DELETE FROM `+table); err != nil {
			return err
		}
	}
	return nil
}

// FleetChanged returns a channel that receives a value when there may be more to send. Only
// one goroutine may receive from it. Other processes do not notify it: what they change is
// found with the next change of this one.
func (s *Store) FleetChanged() <-chan struct{} { return s.fleetNotifier.wake }

// FleetWaiting returns how many facts the hub does not have yet, and how many it will never
// get since the box joined.
func (s *Store) FleetWaiting(ctx context.Context) (waiting int, dropped int64, err error) {
	err = scanFirst(ctx, s.read, []any{&waiting, &dropped}, `
		SELECT (SELECT count(*) FROM fleet_chat WHERE waiting = 1) + (SELECT count(*) FROM fleet_note),
		       coalesce((SELECT dropped FROM fleet), 0)`)
	return waiting, dropped, explain("counting what the hub does not know", err)
}
