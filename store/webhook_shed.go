package store

import (
	"context"
	"slices"
	"time"
)

// WebhookBounds bound the waiting webhooks of an account, and the bytes of their bodies.
type WebhookBounds struct {
	Number int
	Bytes  int64
}

func (b WebhookBounds) exceededBy(h held) bool { return h.number > b.Number || h.bytes > b.Bytes }

// held is what the webhooks of an account in one state amount to.
type held struct {
	account int64
	state   WebhookState
	number  int
	bytes   int64
}

// WebhooksSince returns the count and the body bytes of the webhooks queued after number
// num, and the number of the newest webhook.
func (s *Store) WebhooksSince(ctx context.Context, num int64) (newest int64, number int, bytes int64, err error) {
	err = scanFirst(ctx, s.read, []any{&newest, &number, &bytes}, `
		SELECT coalesce(max(num), ?1), count(*), coalesce(sum(octet_length(body)), 0) FROM webhook WHERE num > ?1`, num)
	return newest, number, bytes, explain("counting new webhooks", err)
}

// ShedWebhooks gives up the oldest waiting webhooks of accounts that exceed the bounds,
// with the error why, and returns their number. Webhooks that were given up have the same
// bounds; the oldest beyond them are deleted.
func (s *Store) ShedWebhooks(ctx context.Context, b WebhookBounds, why string) (shed int, err error) {
	if shed, err = s.shed(ctx, b, WebhookWaiting, func(ctx context.Context, c conn, num int64) error {
		now := time.Now().UnixMilli()
		return finishWebhook(ctx, c, num, `
			UPDATE webhook SET state = 'dead', due_ms = NULL, last_ms = ?2, last_error = ?3
			 WHERE num = ?1 AND state = 'waiting' RETURNING chat, receiver`, now, why)
	}); err != nil {
		return shed, err
	}
	_, err = s.shed(ctx, b, WebhookWasAbandoned, func(ctx context.Context, c conn, num int64) error {
		return execute(ctx, c, `DELETE FROM webhook WHERE num = ? AND state = 'dead'`, num)
	})
	return shed, err
}

// shed lets go of the oldest webhooks in a state that exceed the bounds, and returns
// their number.
func (s *Store) shed(ctx context.Context, b WebhookBounds, state WebhookState,
	letGo func(context.Context, conn, int64) error) (shed int, err error) {
	const doing = "giving up webhooks, of which too many wait"
	all, err := query(ctx, s.read, func(row scanner) (h held, err error) {
		return h, row.Scan(&h.account, &h.state, &h.number, &h.bytes)
	}, `
		SELECT r.account, w.state, count(*), sum(octet_length(w.body))
		  FROM webhook w JOIN webhook_receiver r ON r.num = w.receiver WHERE w.state = ? GROUP BY r.account`, state)
	if err != nil {
		return 0, explain(doing, err)
	}
	for _, h := range all {
		oldest, err := s.oldestBeyond(ctx, b, h)
		if err != nil {
			return shed, explain(doing, err)
		}
		for batch := range slices.Chunk(oldest, webhooksAtOnce) {
			if err := s.change(ctx, doing, func(ctx context.Context, c conn) error {
				for _, num := range batch {
					if err := letGo(ctx, c, num); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return shed, err
			}
			shed += len(batch)
		}
	}
	return shed, nil
}

// oldestBeyond returns the numbers of the oldest webhooks that exceed the bounds.
func (s *Store) oldestBeyond(ctx context.Context, b WebhookBounds, h held) (nums []int64, err error) {
	for after := int64(0); b.exceededBy(h); {
		type one struct{ num, bytes int64 }
		batch, err := query(ctx, s.read, func(row scanner) (o one, err error) {
			return o, row.Scan(&o.num, &o.bytes)
		}, `
			SELECT w.num, octet_length(w.body) FROM webhook w JOIN webhook_receiver r ON r.num = w.receiver
			 WHERE w.state = ? AND r.account = ? AND w.num > ? ORDER BY w.num LIMIT 1000`, h.state, h.account, after)
		if err != nil || len(batch) == 0 {
			return nums, err
		}
		for _, o := range batch {
			if !b.exceededBy(h) {
				break
			}
			nums, after = append(nums, o.num), o.num
			h.number, h.bytes = h.number-1, h.bytes-o.bytes
		}
	}
	return nums, nil
}
