package webhook

import (
	"context"
	"fmt"
	"time"

	"parley/store"
)

// bounds are what one account may have waiting. A receiver that is down for the
// day for which it is tried misses a webhook a second at most of a busy box, some
// 600 bytes each; beyond that the oldest tell the least that is still of use, and
// the disk is for all accounts.
func bounds() store.WebhookBounds { return store.WebhookBounds{Number: 100_000, Bytes: 64 << 20} }

// countEach is the part of the bounds that may be told before it is counted anew
// what waits: counting runs along all of it, some 100 ms.
const countEach = 100

// sheds notes what the sender gives up because too much waits.
type sheds struct {
	seen   int64 // the newest webhook that was counted
	number int   // told since all were counted
	bytes  int64
	silent int // given up since the log was told
	told   time.Time
}

// shed gives up what an account has waiting beyond the bounds.
func (s *Sender) shed(ctx context.Context) error {
	newest, number, bytes, err := s.Outbox.WebhooksSince(ctx, s.sheds.seen)
	if err != nil {
		return err
	}
	s.sheds.seen, s.sheds.number, s.sheds.bytes = newest, s.sheds.number+number, s.sheds.bytes+bytes
	if s.sheds.number*countEach < s.bounds.Number && s.sheds.bytes*countEach < s.bounds.Bytes {
		return nil
	}
	why := fmt.Sprintf("given up unsent: of one account at most %d webhooks wait, and %d MiB", s.bounds.Number,
		s.bounds.Bytes>>20)
	shed, err := s.Outbox.ShedWebhooks(ctx, s.bounds, why)
	if shed > 0 {
		s.Shed(shed)
		s.tellShed(shed)
	}
	if err == nil {
		s.sheds.number, s.sheds.bytes = 0, 0
	}
	return err
}

// tellShed tells the log, once a minute at most: where a receiver is down, there is
// more to be given up with every chat.
func (s *Sender) tellShed(shed int) {
	s.sheds.silent += shed
	if time.Since(s.sheds.told) < time.Minute {
		return
	}
	s.Log.Error(
		"webhooks are given up, since too many wait; parley webhooks --state dead shows them, and for whom",
		"number", s.sheds.silent, "most", s.bounds.Number, "most_bytes", s.bounds.Bytes)
	s.sheds.silent, s.sheds.told = 0, time.Now()
}
