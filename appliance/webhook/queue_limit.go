package webhook

import (
	"context"
	"fmt"
	"time"

	"parley/store"
)

// accountBounds returns how many webhooks of one account may wait. When a receiver is down
// for a whole day, a busy box queues at most one webhook a second for it, some 600 bytes
// each. Beyond that the oldest are the least useful, and the disk is for all accounts.
func accountBounds() store.WebhookBounds {
	return store.WebhookBounds{Number: 100_000, Bytes: 64 << 20}
}

// recountShare is the part of the bounds (a hundredth) that may be added before the waiting
// webhooks are counted again: counting scans all of them, some 100 ms.
const recountShare = 100

// shedState counts towards the bounds.
type shedState struct {
	seen     int64 // number of the newest webhook that was counted
	number   int   // webhooks since the last full count
	bytes    int64
	unlogged int // given up since the last log line
	loggedAt time.Time
}

// shed gives up the webhooks of an account beyond the bounds, the oldest first.
func (s *Sender) shed(ctx context.Context) error {
	newest, number, bytes, err := s.Outbox.WebhooksSince(ctx, s.shedState.seen)
	if err != nil {
		return err
	}
	s.shedState.seen, s.shedState.number, s.shedState.bytes = newest, s.shedState.number+number, s.shedState.bytes+bytes
	if s.shedState.number*recountShare < s.bounds.Number && s.shedState.bytes*recountShare < s.bounds.Bytes {
		return nil
	}
	why := fmt.Sprintf("given up unsent: at most %d webhooks of one account may wait, and %d MiB", s.bounds.Number,
		s.bounds.Bytes>>20)
	shed, err := s.Outbox.ShedWebhooks(ctx, s.bounds, why)
	if shed > 0 {
		s.Shed(shed)
		s.logShed(shed)
	}
	if err == nil {
		s.shedState.number, s.shedState.bytes = 0, 0
	}
	return err
}

// logShed logs at most once a minute: while a receiver is down, every chat has more
// webhooks given up.
func (s *Sender) logShed(shed int) {
	s.shedState.unlogged += shed
	if time.Since(s.shedState.loggedAt) < time.Minute {
		return
	}
	s.Log.Error(
		"webhooks are given up, since too many wait; parley webhooks --state dead lists them and their receivers",
		"number", s.shedState.unlogged, "most", s.bounds.Number, "most_bytes", s.bounds.Bytes)
	s.shedState.unlogged, s.shedState.loggedAt = 0, time.Now()
}
