package webhook

import (
	"context"
	"fmt"
	"time"

	"parley/store"
)

// accountBounds are what one account may have waiting. A receiver that is down for the
// day for which it is tried misses a webhook a second at most of a busy box, some
// 600 bytes each; beyond that the oldest tell the least that is still of use, and
// the disk is for all accounts.
func accountBounds() store.WebhookBounds {
	return store.WebhookBounds{Number: 100_000, Bytes: 64 << 20}
}

// recountShare is the part of the bounds that may be told before it is counted anew
// what waits: counting runs along all of it, some 100 ms.
const recountShare = 100

// shedState notes what the sender gives up because too much waits.
type shedState struct {
	seen     int64 // the newest webhook that was counted
	number   int   // loggedAt since all were counted
	bytes    int64
	unlogged int // given up since the log was told
	loggedAt time.Time
}

// shed gives up what an account has waiting beyond the bounds.
func (s *Sender) shed(ctx context.Context) error {
	newest, number, bytes, err := s.Outbox.WebhooksSince(ctx, s.shedState.seen)
	if err != nil {
		return err
	}
	s.shedState.seen, s.shedState.number, s.shedState.bytes = newest, s.shedState.number+number, s.shedState.bytes+bytes
	if s.shedState.number*recountShare < s.bounds.Number && s.shedState.bytes*recountShare < s.bounds.Bytes {
		return nil
	}
	why := fmt.Sprintf("given up unsent: of one account at most %d webhooks wait, and %d MiB", s.bounds.Number,
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

// logShed tells the log, once a minute at most: where a receiver is down, there is
// more to be given up with every chat.
func (s *Sender) logShed(shed int) {
	s.shedState.unlogged += shed
	if time.Since(s.shedState.loggedAt) < time.Minute {
		return
	}
	s.Log.Error(
		"webhooks are given up, since too many wait; parley webhooks --state dead shows them, and for whom",
		"number", s.shedState.unlogged, "most", s.bounds.Number, "most_bytes", s.bounds.Bytes)
	s.shedState.unlogged, s.shedState.loggedAt = 0, time.Now()
}
