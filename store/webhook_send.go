package store

import (
	"context"
	"errors"
	"time"
)

const (
	// deliveredRetention is for how long it is remembered that a webhook was
	// delivered, without what it said; deadRetention how long one is kept that could
	// not be, so that it can be tried again.
	deliveredRetention = 24 * time.Hour
	deadRetention      = 7 * 24 * time.Hour
	// lastChance is for how long those are tried whose time was over while the box
	// was off.
	lastChance = time.Hour
)

// WaitingReceiver is one for whom webhooks wait.
type WaitingReceiver struct {
	Num   int64 // names it, as long as something waits for it
	DueMS int64 // of the next attempt, Unix milliseconds
}

// Delivery is a webhook that is due, with all that an attempt wants.
type Delivery struct {
	Num        int64 // names it
	ID         string
	URL        string
	Chat       string // its id
	Event      string
	Body       string
	SigningKey string // the account's, as it is now
	Attempts   int    // so far
	CreatedMS  int64  // of what it tells
	UntilMS    int64  // from then on it is given up
}

// WebhooksChanged is sent to when there may be more to send than before. There is
// one who receives, in the box.
func (s *Store) WebhooksChanged() <-chan struct{} { return s.outboxNotifier.wake }

// ResumeWebhooks makes the outbox ready at the start of a box: what was given up
// only because the box was off has a last chance, and nothing waits for longer
// than longest because somebody set the clock back.
func (s *Store) ResumeWebhooks(ctx context.Context, longest time.Duration) error {
	return s.change(ctx, "going on with the webhooks", func(ctx context.Context, c conn) error {
		now := time.Now().UnixMilli()
		return execute(ctx, c, `
			UPDATE webhook SET until_ms = iif(until_ms < ?1, ?1 + ?2, until_ms), due_ms = min(due_ms, ?1 + ?3)
			 WHERE state = 'waiting' AND (until_ms < ?1 OR due_ms > ?1 + ?3)`, now, lastChance.Milliseconds(),
			longest.Milliseconds())
	})
}

// WaitingReceivers returns those for whom something waits.
func (s *Store) WaitingReceivers(ctx context.Context) ([]WaitingReceiver, error) {
	all, err := query(ctx, s.read, func(row scanner) (r WaitingReceiver, err error) {
		return r, row.Scan(&r.Num, &r.DueMS)
	}, `
		SELECT num, due FROM (SELECT num, (SELECT min(due_ms) FROM webhook WHERE receiver = r.num AND due_ms IS NOT
		  NULL) AS due FROM webhook_receiver r)
		 WHERE due IS NOT NULL`)
	return all, explain("looking for webhooks that are due", err)
}

// DueWebhooks returns the webhooks for a receiver that are due at a time (Unix
// milliseconds), those first that are so for longest, at most so many; and when
// the next one after that time is due, 0 where there is none.
func (s *Store) DueWebhooks(ctx context.Context, receiver, atMS int64, most int) (due []Delivery, nextMS int64,
	err error) {
	due, err = query(ctx, s.read, func(row scanner) (d Delivery, err error) {
		return d, row.Scan(&d.Num, &d.ID, &d.URL, &d.Chat, &d.Event, &d.Body, &d.SigningKey, &d.Attempts, &d.CreatedMS,
			&d.UntilMS)
	}, `
		SELECT w.num, w.id, r.url, w.chat, w.event, w.body, a.signing_key, w.attempts, w.created_ms, w.until_ms
		  FROM webhook w CROSS JOIN webhook_receiver r ON r.num = w.receiver CROSS JOIN account a ON a.num = r.account
		 WHERE w.receiver = ? AND w.due_ms <= ? ORDER BY w.due_ms, w.num LIMIT ?`, receiver, atMS, most)
	if err == nil {
		nextMS, err = value[int64](ctx, s.read,
			`SELECT coalesce(min(due_ms), 0) FROM webhook WHERE receiver = ? AND due_ms > ?`, receiver, atMS)
	}
	return due, nextMS, explain("reading webhooks that are due", err)
}

// WebhookDelivered notes that a webhook was delivered, forgets what it said, and
// lets the next one of its chat go. One that was given up while it was on its way
// containsAll arrived all the same.
func (s *Store) WebhookDelivered(ctx context.Context, num, atMS int64) error {
	return s.change(ctx, "noting that a webhook was delivered", func(ctx context.Context, c conn) error {
		return finishWebhook(ctx, c, `
			UPDATE webhook SET state = 'delivered', due_ms = NULL, body = '', attempts = attempts + 1, last_ms = ?2,
			       last_error = NULL
			 WHERE num = ?1 AND state <> 'delivered' RETURNING chat, receiver`, atMS, num, atMS)
	})
}

// WebhookFailed notes an attempt that failed, why, and when the next one is due
// (Unix milliseconds).
func (s *Store) WebhookFailed(ctx context.Context, num, atMS int64, why string, nextMS int64) error {
	return s.change(ctx, "noting that a webhook was not delivered", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE webhook SET due_ms = ?, attempts = attempts + 1, last_ms = ?, `+
			`last_error = ? WHERE num = ? AND state = 'waiting'`, nextMS, atMS, why, num)
	})
}

// WebhookDead notes that a webhook is given up after an attempt that failed, and
// lets the next one of its chat go.
func (s *Store) WebhookDead(ctx context.Context, num, atMS int64, why string) error {
	return s.change(ctx, "noting that a webhook is given up", func(ctx context.Context, c conn) error {
		return finishWebhook(ctx, c, `
			UPDATE webhook SET state = 'dead', due_ms = NULL, attempts = attempts + 1, last_ms = ?2, last_error = ?3
			 WHERE num = ?1 AND state = 'waiting' RETURNING chat, receiver`, atMS, num, atMS, why)
	})
}

// finishWebhook ends the waiting of a webhook, by a statement that returns its chat and
// receiver, and makes the next one there due.
func finishWebhook(ctx context.Context, c conn, statement string, atMS int64, args ...any) error {
	l, err := first(ctx, c, scanQueue, statement, args...)
	if errors.Is(err, ErrNotFound) {
		return nil // it does not wait any more, or was deleted with its account
	}
	if err != nil {
		return err
	}
	return l.advance(ctx, c, atMS)
}

// chatQueue is a chat's webhooks for one receiver, who gets them in their order.
type chatQueue struct {
	chat     string
	receiver int64
}

func scanQueue(row scanner) (l chatQueue, err error) { return l, row.Scan(&l.chat, &l.receiver) }

// advance makes the first of them that waits due.
func (l chatQueue) advance(ctx context.Context, c conn, atMS int64) error {
	return execute(ctx, c, `
		UPDATE webhook SET due_ms = ?3 WHERE due_ms IS NULL AND num = (
		       SELECT num FROM webhook WHERE chat = ?1 AND receiver = ?2 AND state = 'waiting' ORDER BY num LIMIT 1)`,
		l.chat, l.receiver, atMS)
}

// dropOldWebhooks forgets those that were delivered a day ago, and those that
// were given up a week ago; and receivers of whom nothing is left.
func (s *Store) dropOldWebhooks(ctx context.Context) error {
	const doing = "forgetting old webhooks"
	now := time.Now()
	for state, kept := range map[string]time.Duration{"delivered": deliveredRetention, "dead": deadRetention} {
		err := s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
			const some = ` FROM webhook WHERE state = ? AND last_ms < ?`
			before := now.Add(-kept).UnixMilli()
			if more, err = value[bool](ctx, s.read, `SELECT EXISTS (SELECT 1`+some+` AND state <> 'waiting')`, state,
				before); err != nil || !more {
				return false, explain(doing, err)
			}
			return true, s.change(ctx, doing, func(ctx context.Context, c conn) error {
				return execute(ctx, c, `DELETE FROM webhook WHERE num IN (SELECT num`+some+
					` AND state <> 'waiting' LIMIT ?)`, state, before, webhooksAtOnce)
			})
		})
		if err != nil {
			return err
		}
	}
	const idle = ` FROM webhook_receiver
			 WHERE NOT EXISTS (SELECT 1 FROM webhook WHERE receiver = webhook_receiver.num)
			   AND NOT EXISTS (SELECT 1 FROM webhook_wish WHERE receiver = webhook_receiver.num)`
	if some, err := value[bool](ctx, s.read, `SELECT EXISTS (SELECT 1`+idle+`)`); err != nil || !some {
		return explain(doing, err)
	}
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		return execute(ctx, c, `DELETE`+idle)
	})
}

// webhooksAtOnce is how many webhooks one batch deletes or changes: each is in
// six indexes.
const webhooksAtOnce = batchRows / 7

// dropWebhooksOf forgets what the receivers of a chat that is deleted were told.
// What still waits is delivered: the receivers are the account's own.
func dropWebhooksOf(ctx context.Context, c conn, chatID string) error {
	return execute(ctx, c, `DELETE FROM webhook WHERE chat = ? AND state <> 'waiting'`, chatID)
}
