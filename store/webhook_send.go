package store

import (
	"context"
	"errors"
	"time"
)

const (
	// deliveredRetention is for how long a delivered webhook is listed, without its body;
	// deadRetention for how long one is stored that was given up, so that it can be
	// retried.
	deliveredRetention = 24 * time.Hour
	deadRetention      = 7 * 24 * time.Hour
	// lastChance is for how long webhooks are tried that ran out of time while the box
	// was off.
	lastChance = time.Hour
)

// WaitingReceiver is a receiver with waiting webhooks.
type WaitingReceiver struct {
	Num   int64 // its number while something waits for it
	DueMS int64 // time of the next attempt, Unix milliseconds
}

// Delivery is a webhook that is due, with all that an attempt needs.
type Delivery struct {
	Num        int64 // its number in the database
	ID         string
	URL        string
	Chat       string // chat id
	Event      string
	Body       string
	SigningKey string // the account's current key
	Attempts   int    // so far
	CreatedMS  int64  // time of the event
	UntilMS    int64  // when attempts end
}

// WebhooksChanged returns a channel that receives a value when there may be more to send.
// Only one goroutine may receive from it.
func (s *Store) WebhooksChanged() <-chan struct{} { return s.outboxNotifier.wake }

// ResumeWebhooks prepares the outbox at the start of a box: webhooks that ran out of time
// while the box was off get a last chance, and none waits for more than longest because
// the clock was set back.
func (s *Store) ResumeWebhooks(ctx context.Context, longest time.Duration) error {
	return s.change(ctx, "resuming the webhooks", func(ctx context.Context, c conn) error {
		now := time.Now().UnixMilli()
		return execute(ctx, c, `
			UPDATE webhook SET until_ms = iif(until_ms < ?1, ?1 + ?2, until_ms), due_ms = min(due_ms, ?1 + ?3)
			 WHERE state = 'waiting' AND (until_ms < ?1 OR due_ms > ?1 + ?3)`, now, lastChance.Milliseconds(),
			longest.Milliseconds())
	})
}

// WaitingReceivers returns the receivers with waiting webhooks.
func (s *Store) WaitingReceivers(ctx context.Context) ([]WaitingReceiver, error) {
	all, err := query(ctx, s.read, func(row scanner) (r WaitingReceiver, err error) {
		return r, row.Scan(&r.Num, &r.DueMS)
	}, `
		SELECT num, due FROM (SELECT num, (SELECT min(due_ms) FROM webhook WHERE receiver = r.num AND due_ms IS NOT
		  NULL) AS due FROM webhook_receiver r)
		 WHERE due IS NOT NULL`)
	return all, explain("looking for webhooks that are due", err)
}

// DueWebhooks returns at most most webhooks for a receiver that are due at a time (Unix
// milliseconds), in the order in which they became due, and when the next one after that
// time is due, 0 if there is none.
func (s *Store) DueWebhooks(ctx context.Context, receiver, atMS int64, limit int) (due []Delivery, nextMS int64,
	err error) {
	due, err = query(ctx, s.read, func(row scanner) (d Delivery, err error) {
		return d, row.Scan(&d.Num, &d.ID, &d.URL, &d.Chat, &d.Event, &d.Body, &d.SigningKey, &d.Attempts, &d.CreatedMS,
			&d.UntilMS)
	}, `
		SELECT w.num, w.id, r.url, w.chat, w.event, w.body, a.signing_key, w.attempts, w.created_ms, w.until_ms
		  FROM webhook w CROSS JOIN webhook_receiver r ON r.num = w.receiver CROSS JOIN account a ON a.num = r.account
		 WHERE w.receiver = ? AND w.due_ms <= ? ORDER BY w.due_ms, w.num LIMIT ?`, receiver, atMS, limit)
	if err == nil {
		nextMS, err = value[int64](ctx, s.read,
			`SELECT coalesce(min(due_ms), 0) FROM webhook WHERE receiver = ? AND due_ms > ?`, receiver, atMS)
	}
	return due, nextMS, explain("reading webhooks that are due", err)
}

// WebhookDelivered records that a webhook was delivered, deletes its body, and makes the
// next one of its chat due. A webhook that was given up while an attempt was under way
// counts as delivered too.
func (s *Store) WebhookDelivered(ctx context.Context, num, atMS int64) error {
	return s.endWebhook(ctx, "recording a delivered webhook", func(ctx context.Context, c conn) error {
		return finishWebhook(ctx, c, num, `
			UPDATE webhook SET state = 'delivered', due_ms = NULL, body = '', attempts = attempts + 1, last_ms = ?2,
			       last_error = NULL
			 WHERE num = ?1 AND state <> 'delivered' RETURNING chat, receiver`, atMS)
	})
}

// WebhookFailed records a failed attempt, its reason, and when the next one is due (Unix
// milliseconds).
func (s *Store) WebhookFailed(ctx context.Context, num, atMS int64, why string, nextMS int64) error {
	return s.change(ctx, "recording a failed webhook", func(ctx context.Context, c conn) error {
		return execute(ctx, c, `UPDATE webhook SET due_ms = ?, attempts = attempts + 1, last_ms = ?, `+
			`last_error = ? WHERE num = ? AND state = 'waiting'`, nextMS, atMS, why, num)
	})
}

// WebhookDead records that a webhook is given up after a failed attempt, and makes the
// next one of its chat due.
func (s *Store) WebhookDead(ctx context.Context, num, atMS int64, why string) error {
	return s.endWebhook(ctx, "giving up a webhook", func(ctx context.Context, c conn) error {
		return finishWebhook(ctx, c, num, `
			UPDATE webhook SET state = 'dead', due_ms = NULL, attempts = attempts + 1, last_ms = ?2, last_error = ?3
			 WHERE num = ?1 AND state = 'waiting' RETURNING chat, receiver`, atMS, why)
	})
}

// endWebhook is change, and notifies the sender of facts.
func (s *Store) endWebhook(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	err := s.change(ctx, doing, do)
	if err == nil {
		s.fleetNotifier.notify()
	}
	return err
}

// finishWebhook runs a statement that ends the waiting of a webhook and returns its chat
// and receiver, and makes the next webhook there due. Its first two parameters are num and
// atMS.
func finishWebhook(ctx context.Context, c conn, num int64, statement string, atMS int64, more ...any) error {
	l, err := first(ctx, c, scanQueue, statement, append([]any{num, atMS}, more...)...)
	if errors.Is(err, ErrNotFound) {
		return nil // it does not wait any more, or was deleted with its account
	}
	if err != nil {
		return err
	}
	if err := noteWebhook(ctx, c, num, atMS); err != nil {
		return err
	}
	return l.advance(ctx, c, atMS)
}

// chatQueue is the webhooks of a chat for one receiver, which are sent in order.
type chatQueue struct {
	chat     string
	receiver int64
}

func scanQueue(row scanner) (l chatQueue, err error) { return l, row.Scan(&l.chat, &l.receiver) }

// advance makes the first waiting webhook of the queue due.
func (q chatQueue) advance(ctx context.Context, c conn, atMS int64) error {
	return execute(ctx, c, `
		UPDATE webhook SET due_ms = ?3 WHERE due_ms IS NULL AND num = (
		       SELECT num FROM webhook WHERE chat = ?1 AND receiver = ?2 AND state = 'waiting' ORDER BY num LIMIT 1)`,
		q.chat, q.receiver, atMS)
}

// dropOldWebhooks deletes webhooks after their retention, and receivers without webhooks.
func (s *Store) dropOldWebhooks(ctx context.Context) error {
	const doing = "forgetting old webhooks"
	now := time.Now()
	for state, retention := range map[string]time.Duration{"delivered": deliveredRetention, "dead": deadRetention} {
		err := s.inBatches(ctx, func(ctx context.Context) (more bool, err error) {
			const some = ` FROM webhook WHERE state = ? AND last_ms < ?`
			before := now.Add(-retention).UnixMilli()
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
	if exist, err := value[bool](ctx, s.read, `SELECT EXISTS (SELECT 1`+idle+`)`); err != nil || !exist {
		return explain(doing, err)
	}
	return s.change(ctx, doing, func(ctx context.Context, c conn) error {
		return execute(ctx, c, `DELETE`+idle)
	})
}

// webhooksAtOnce is how many webhooks one batch changes: each is in six indexes.
const webhooksAtOnce = batchRows / 7

// dropWebhooksOf deletes the sent webhooks of a deleted chat. Waiting ones are still
// delivered: the receivers belong to the account.
func dropWebhooksOf(ctx context.Context, c conn, chatID string) error {
	return execute(ctx, c, `DELETE FROM webhook WHERE chat = ? AND state <> 'waiting'`, chatID)
}
