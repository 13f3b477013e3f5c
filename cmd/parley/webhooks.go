package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/contract"
	"parley/cmd/parley/terminal"
	"parley/store"
)

// webhooksCmd shows and steers what webhooks are told, while the box runs or not.
type webhooksCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	List   webhooksListCmd   `cmd:"" help:"List the webhooks that wait, that were given up, and those of the last day."`
	Retry  webhooksRetryCmd  `cmd:"" help:"Try webhooks again, now and for another day."`
	Forget webhooksForgetCmd `cmd:"" help:"Delete webhooks that were given up."`
	Test   webhooksTestCmd   `cmd:"" help:"Send a receiver a signed example, and say what it answers."`

	Settings kong.Plugins `embed:"" settings:"data webhooks.allow_private"`
}

// open opens the database of the box, does one thing in it, and closes it.
func (w *webhooksCmd) open(ctx context.Context, c *console, parsed *kong.Context, do func(*store.Store) error) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	s, err := boxRecords(ctx, cfg)
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	return errors.Join(do(s), s.Close())
}

type webhooksListCmd struct {
	Account string `help:"Only those of this account."`
	Chat    string `help:"Only those of this chat."`
	State   string `enum:"waiting,dead,delivered," default:"" help:"Only those that are so: waiting, dead (given up) or delivered."`
	Limit   int    `default:"100" help:"The newest so many at most (100)."`
}

// Help shows the command in use.
func (webhooksListCmd) Help() string {
	return "Examples:\n\n  parley webhooks list --state dead\n\n  parley webhooks list --json | jq '.[] | " +
		"select(.attempts > 3) | .url'"
}

// listedWebhook is a webhook in a list, as JSON prints it. Times are Unix
// milliseconds.
type listedWebhook struct {
	ID        string             `json:"id"`
	Account   string             `json:"account"`
	Event     string             `json:"event"`
	ChatID    string             `json:"chat_id"`
	URL       string             `json:"url"`
	State     store.WebhookState `json:"state"`
	CreatedMS int64              `json:"created_ms"`
	Attempts  int                `json:"attempts"`
	LastMS    int64              `json:"last_ms,omitempty"` // the newest attempt
	LastError string             `json:"last_error,omitempty"`
	// the next attempt; absent where it waits for the one before it in its chat
	DueMS   int64 `json:"due_ms,omitempty"`
	UntilMS int64 `json:"until_ms,omitempty"` // from then on it is not tried again
}

// Run lists them, the newest first.
func (cmd *webhooksListCmd) Run(ctx context.Context, c *console, parsed *kong.Context, w *webhooksCmd) error {
	if cmd.Limit < 1 || cmd.Limit > 100_000 {
		return misuse{fmt.Errorf("webhooks: --limit %d is not from 1 to 100000", cmd.Limit)}
	}
	return w.open(ctx, c, parsed, func(s *store.Store) error {
		f, err := webhookFilter(ctx, s, cmd.Account)
		if err != nil {
			return err
		}
		if f.ChatID = cmd.Chat; cmd.State != "" {
			f.States = []store.WebhookState{store.WebhookState(cmd.State)}
		}
		all, err := s.Webhooks(ctx, f, cmd.Limit)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		return w.print(c, all)
	})
}

func (w *webhooksCmd) print(c *console, all []store.SentWebhook) error {
	listed := make([]listedWebhook, 0, len(all))
	for _, h := range all {
		r := appliance.WebhookRecord(h)
		listed = append(listed, listedWebhook{r.ID, r.Account, r.Event, r.ChatID, r.URL, h.State, r.CreatedOn,
			r.Attempts, r.LastOn, r.LastError, r.DueOn, r.UntilOn})
	}
	if w.JSON {
		return c.json(listed)
	}
	t := &terminal.Table{Head: []string{"ID", "CREATED", "EVENT", "STATE", "ATTEMPTS", "LAST ERROR", "URL"}}
	for _, l := range listed {
		t.Add(l.ID, time.UnixMilli(l.CreatedMS).Format(time.DateTime), l.Event, l.describe(time.Now()),
			fmt.Sprint(l.Attempts), l.LastError, l.URL)
	}
	return c.table(t)
}

// describe is the state in words.
func (l listedWebhook) describe(now time.Time) string {
	switch {
	case l.State != store.WebhookWaiting:
		return string(l.State)
	case l.DueMS == 0:
		return "waits for the one before it"
	case l.Attempts == 0 || !time.UnixMilli(l.DueMS).After(now):
		return "due"
	}
	return "again in " + time.UnixMilli(l.DueMS).Sub(now).Round(time.Second).String()
}

// webhookFilter means all webhooks, or those of the account of that name.
func webhookFilter(ctx context.Context, s *store.Store, name string) (f store.WebhookFilter, err error) {
	if name == "" {
		return f, nil
	}
	a, err := account(ctx, s, name)
	if err != nil {
		return f, err
	}
	f.AccountID = a.ID
	return f, nil
}

// chosenWebhooks are those that a command is to change: named, or all.
type chosenWebhooks struct {
	IDs     []string `arg:"" optional:"" name:"webhook-id" help:"Ids, from parley webhooks list."`
	All     bool     `help:"All of them."`
	Account string   `help:"With --all: only those of this account."`
}

// filter is which are meant.
func (ch chosenWebhooks) filter(ctx context.Context, s *store.Store) (store.WebhookFilter, error) {
	if ch.All == (len(ch.IDs) > 0) {
		return store.WebhookFilter{},
			misuse{errors.New("webhooks: name them by their ids, or give --all: parley webhooks list shows the ids")}
	}
	f, err := webhookFilter(ctx, s, ch.Account)
	f.IDs = ch.distinct()
	return f, err
}

func (ch chosenWebhooks) distinct() []string {
	return slices.Compact(slices.Sorted(slices.Values(ch.IDs)))
}

// changed says how many were changed. That none was is a failure where they were
// named.
func (ch chosenWebhooks) changed(w *webhooksCmd, c *console, done string, n int) error {
	if named := len(ch.distinct()); n < named {
		return fmt.Errorf(
			"webhooks: %d of %d ids are of no webhook that can be %s: parley webhooks list shows the ids and states",
			named-n, named, done)
	}
	if w.JSON {
		return c.json(map[string]int{done: n})
	}
	_, err := fmt.Fprintf(c.out, "%d webhooks are %s\n", n, done)
	return err
}

type webhooksRetryCmd struct {
	chosenWebhooks `embed:""`
}

// Help shows the command in use.
func (webhooksRetryCmd) Help() string {
	return "Examples:\n\n  parley webhooks retry 9f86d081884c7d65\n\n  parley webhooks retry --all\n\nThose that " +
		"wait are tried at once, and those that were given up too, for another day. A box that runs learns of it at " +
		"once; otherwise they are sent at its next start."
}

// Run has them tried again.
func (cmd *webhooksRetryCmd) Run(ctx context.Context, c *console, parsed *kong.Context, w *webhooksCmd) error {
	return w.open(ctx, c, parsed, func(s *store.Store) error {
		f, err := cmd.filter(ctx, s)
		if err != nil {
			return err
		}
		n, err := s.RetryWebhooks(ctx, f)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		return cmd.changed(w, c, "retried", n)
	})
}

type webhooksForgetCmd struct {
	chosenWebhooks `embed:""`
}

// Help shows the command in use.
func (webhooksForgetCmd) Help() string {
	return "Example:\n\n  parley webhooks forget --all\n\nOnly those that were given up can be forgotten. They are " +
		"by themselves after seven days."
}

// Run deletes them.
func (cmd *webhooksForgetCmd) Run(ctx context.Context, c *console, parsed *kong.Context, w *webhooksCmd) error {
	return w.open(ctx, c, parsed, func(s *store.Store) error {
		f, err := cmd.filter(ctx, s)
		if err != nil {
			return err
		}
		n, err := s.ForgetWebhooks(ctx, f)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		return cmd.changed(w, c, "forgotten", n)
	})
}

type webhooksTestCmd struct {
	URL     string `arg:"" help:"The receiver's, as a config would name it."`
	Account string `default:"default" help:"Account whose signing key is used (default)."`
}

// Help shows the command in use.
func (webhooksTestCmd) Help() string {
	return "Example:\n\n  parley webhooks test https://shop.example/hooks/parley\n\nIt is a chat_started of a chat " +
		"that there never was, sent once by this command under the rules of the box. Exits with 1 unless the " +
		"receiver answers with 2xx."
}

// Run sends the example.
func (cmd *webhooksTestCmd) Run(ctx context.Context, c *console, parsed *kong.Context, w *webhooksCmd) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	if err := contract.CheckWebhookURL(cmd.URL); err != nil {
		return misuse{fmt.Errorf("webhooks: %w", err)}
	}
	return w.open(ctx, c, parsed, func(s *store.Store) error {
		a, err := account(ctx, s, cmd.Account)
		if err != nil {
			return err
		}
		key, err := s.SigningKey(ctx, a.ID)
		if err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		took, err := appliance.TryWebhook(ctx, cfg, key, cmd.URL)
		if err != nil {
			return fmt.Errorf("webhooks: not delivered: %w", err)
		}
		if w.JSON {
			return c.json(map[string]any{"delivered": true, "milliseconds": took.Milliseconds()})
		}
		_, err = fmt.Fprintf(c.out, "delivered, in %d ms\n", took.Milliseconds())
		return err
	})
}
