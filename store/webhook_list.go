package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// WebhookState is the state of a webhook.
type WebhookState string

// The states of webhooks.
const (
	WebhookWaiting      WebhookState = "waiting"
	WebhookWasDelivered WebhookState = "delivered"
	WebhookWasAbandoned WebhookState = "dead"
)

// WebhookStates returns all states.
func WebhookStates() []WebhookState {
	return []WebhookState{WebhookWaiting, WebhookWasDelivered, WebhookWasAbandoned}
}

// SentWebhook is a webhook of the outbox, without its body.
type SentWebhook struct {
	ID        string
	Account   string // name of the account
	URL       string
	ChatID    string
	Event     string
	State     WebhookState
	CreatedMS int64 // of the event; all times are Unix milliseconds
	UntilMS   int64 // when attempts end
	DueMS     int64 // of the next attempt; 0: none, or it waits for an earlier webhook of its chat
	Attempts  int
	LastMS    int64  // of the newest attempt; 0: none
	LastError string // of the newest attempt; empty: none
}

// WebhookFilter selects webhooks. Empty fields restrict nothing.
type WebhookFilter struct {
	AccountID string
	ChatID    string
	IDs       []string
	States    []WebhookState
	Search    string // part of the URL, the chat, the event or the last error
}

// where returns the filter as conditions on webhook w and webhook_receiver r.
func (f WebhookFilter) where() (conditions string, args []any) {
	conditions = `true`
	add := func(column string, values ...any) {
		conditions += ` AND ` + column + ` IN (?` + strings.Repeat(`, ?`, len(values)-1) + `)`
		args = append(args, values...)
	}
	if f.AccountID != "" {
		conditions += ` AND r.account = (SELECT num FROM account WHERE id = ?)`
		args = append(args, f.AccountID)
	}
	if f.ChatID != "" {
		add(`w.chat`, f.ChatID)
	}
	if len(f.IDs) > 0 {
		add(`w.id`, anys(f.IDs)...)
	}
	if len(f.States) > 0 {
		add(`w.state`, anys(f.States)...)
	}
	if f.Search != "" {
		conditions += ` AND instr(lower(r.url || char(10) || w.chat || char(10) || w.event || char(10) || ` +
			`coalesce(w.last_error, '')), lower(?)) > 0`
		args = append(args, f.Search)
	}
	return conditions, args
}

func anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// Webhooks returns at most most of the selected webhooks, newest first.
func (s *Store) Webhooks(ctx context.Context, f WebhookFilter, limit int) ([]SentWebhook, error) {
	where, args := f.where()
	all, err := query(ctx, s.read, scanWebhook,
		`SELECT `+webhookColumns+webhookTables+where+` ORDER BY w.num DESC LIMIT ?`, append(args, limit)...)
	return all, explain("listing the webhooks", err)
}

const (
	webhookColumns = `w.id, a.name, r.url, w.chat, w.event, w.state, w.created_ms, w.until_ms, coalesce(w.due_ms, 0),
		w.attempts, coalesce(w.last_ms, 0), coalesce(w.last_error, '')`
	webhookTables = ` FROM webhook w JOIN webhook_receiver r ON r.num = w.receiver JOIN account a ON a.num = ` +
		`r.account WHERE `
)

func scanWebhook(row scanner) (w SentWebhook, err error) {
	return w, row.Scan(&w.ID, &w.Account, &w.URL, &w.ChatID, &w.Event, &w.State, &w.CreatedMS, &w.UntilMS, &w.DueMS,
		&w.Attempts, &w.LastMS, &w.LastError)
}

// WebhookPage returns a page of the selected webhooks, newest first, and their number.
func (s *Store) WebhookPage(ctx context.Context, f WebhookFilter, p Page) (found []SentWebhook, total int, err error) {
	where, args := f.where()
	const doing = "listing the webhooks"
	skip, ok := p.skip()
	if ok {
		found, err = query(ctx, s.read, counting(scanWebhook, &total),
			`SELECT `+webhookColumns+`, (SELECT count(*)`+webhookTables+where+`)`+webhookTables+where+
				` ORDER BY w.num DESC LIMIT ? OFFSET ?`,
			append(slices.Concat(args, args), p.Size, skip)...)
		if err != nil || len(found) > 0 {
			return found, total, explain(doing, err)
		}
	}
	total, err = value[int](ctx, s.read, `SELECT count(*)`+webhookTables+where, args...) // the page is past the end
	return nil, total, explain(doing, err)
}

// WebhookCounts returns how many webhooks wait, and how many were given up.
func (s *Store) WebhookCounts(ctx context.Context) (waiting, dead int, err error) {
	err = scanFirst(ctx, s.read, []any{&waiting, &dead}, `
		SELECT (SELECT count(*) FROM webhook WHERE state = 'waiting'), (SELECT count(*) FROM webhook WHERE state =
		  'dead')`)
	return waiting, dead, explain("counting the webhooks", err)
}

// RetryWebhooks makes the selected webhooks that were not delivered due now, for another
// WebhookPatience. Those of a chat keep their order. It returns their number.
func (s *Store) RetryWebhooks(ctx context.Context, f WebhookFilter) (retried int, err error) {
	f.States = []WebhookState{WebhookWaiting, WebhookWasAbandoned}
	meant, err := s.matchingWebhooks(ctx, f)
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(meant, webhooksAtOnce) {
		var changed int
		err := s.changeAndNotify(ctx, "trying webhooks again", func(ctx context.Context, c conn) (err error) {
			changed, err = retry(ctx, c, batch)
			return err
		})
		if err != nil {
			return retried, err
		}
		retried += changed
	}
	return retried, nil
}

// matchingWebhooks returns the numbers of the selected webhooks, oldest first.
func (s *Store) matchingWebhooks(ctx context.Context, f WebhookFilter) ([]int64, error) {
	where, args := f.where()
	nums, err := query(ctx, s.read, func(row scanner) (num int64, err error) { return num, row.Scan(&num) }, `
		SELECT w.num FROM webhook w JOIN webhook_receiver r ON r.num = w.receiver WHERE `+where+` ORDER BY w.num`,
		args...)
	return nums, explain("finding webhooks", err)
}

func retry(ctx context.Context, c conn, nums []int64) (changed int, err error) {
	now := time.Now().UnixMilli()
	for _, num := range nums {
		l, err := first(ctx, c, scanQueue, `
			UPDATE webhook SET state = 'waiting', attempts = 0, until_ms = ?2, due_ms = iif(due_ms IS NULL, NULL, ?3)
			 WHERE num = ?1 AND state <> 'delivered' RETURNING chat, receiver`, num, now+WebhookPatience.Milliseconds(),
			now)
		if errors.Is(err, ErrNotFound) {
			continue // it was delivered meanwhile
		}
		if err == nil {
			err = l.advance(ctx, c, now)
		}
		if err != nil {
			return 0, err
		}
		changed++
	}
	return changed, nil
}

// ForgetWebhooks deletes the selected webhooks that were given up, and returns their
// number.
func (s *Store) ForgetWebhooks(ctx context.Context, f WebhookFilter) (forgotten int, err error) {
	f.States = []WebhookState{WebhookWasAbandoned}
	meant, err := s.matchingWebhooks(ctx, f)
	if err != nil {
		return 0, err
	}
	for batch := range slices.Chunk(meant, webhooksAtOnce) {
		err := s.change(ctx, "forgetting webhooks", func(ctx context.Context, c conn) error {
			return execute(ctx, c,
				fmt.Sprintf(`DELETE FROM webhook WHERE state = 'dead' AND num IN (?%s)`,
					strings.Repeat(`, ?`, len(batch)-1)), anys(batch)...)
		})
		if err != nil {
			return forgotten, err
		}
		forgotten += len(batch)
	}
	return forgotten, nil
}
