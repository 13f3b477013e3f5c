package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// webhooksCmd lists and changes the webhooks of a box, running or not.
type webhooksCmd struct {
	IDs    []string `arg:"" optional:"" name:"webhook-id" help:"With --retry or --forget: ids from the list."`
	Retry  bool     `xor:"do" help:"Retry these webhooks, now and for another day."`
	Forget bool     `xor:"do" help:"Delete these webhooks, which were given up."`
	Test   string   `xor:"do" placeholder:"URL" help:"Send this receiver a signed example."`

	All     bool   `help:"With --retry or --forget: all webhooks."`
	Account string `predictor:"account" help:"Only this account's; with --test: account of the key (default)."`
	Chat    string `help:"Only webhooks of this chat."`
	State   string `enum:"waiting,dead,delivered," default:"" placeholder:"STATE" help:"waiting, dead or delivered."`
	Limit   int    `default:"100" help:"List at most this many, newest first."`
	JSON    bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data webhooks.allow_private"`
}

func (webhooksCmd) Help() string {
	return `Examples:

  parley webhooks --state dead

  parley webhooks --json | jq '.[] | select(.attempts > 3) | .url'

  parley webhooks --retry --all

  parley webhooks --forget 9f86d081884c7d65

  parley webhooks --test https://shop.example/hooks/parley

It lists the webhooks that wait, that were given up (dead), or were delivered within a day. --retry makes waiting ` +
		`webhooks due now, and tries dead ones for another day; a stopped box does so at its next start. Dead ` +
		`webhooks are deleted after seven days. --test sends a chat_started of a chat that never existed, under ` +
		`the rules of the box, and exits with 1 unless the receiver answers with 2xx.`
}

// Validate checks the combination of flags.
func (cmd *webhooksCmd) Validate() error {
	change := cmd.Retry || cmd.Forget
	switch {
	case cmd.Limit < 1 || cmd.Limit > 100_000:
		return fmt.Errorf("--limit %d is not allowed: use 1 to 100000", cmd.Limit)
	case change && cmd.All == (len(cmd.IDs) > 0):
		return errors.New("give ids or --all: parley webhooks shows the ids")
	case !change && (cmd.All || len(cmd.IDs) > 0):
		return errors.New("ids and --all need --retry or --forget")
	case cmd.Test != "":
		return contract.CheckWebhookURL(cmd.Test)
	}
	return nil
}

// Run lists webhooks, newest first, or does what the flags say.
func (cmd *webhooksCmd) Run(ctx context.Context, c *console, cfg config.Config, s *store.Store) error {
	if cmd.Test != "" {
		return cmd.testReceiver(ctx, c, cfg, s)
	}
	id, err := accountID(ctx, s, cmd.Account)
	if err != nil {
		return err
	}
	f := store.WebhookFilter{AccountID: id, ChatID: cmd.Chat,
		IDs: slices.Compact(slices.Sorted(slices.Values(cmd.IDs)))}
	if cmd.State != "" {
		f.States = []store.WebhookState{store.WebhookState(cmd.State)}
	}
	switch {
	case cmd.Retry:
		n, err := s.RetryWebhooks(ctx, f)
		return cmd.printChanged(c, f, "retried", n, err)
	case cmd.Forget:
		n, err := s.ForgetWebhooks(ctx, f)
		return cmd.printChanged(c, f, "forgotten", n, err)
	}
	sent, err := s.Webhooks(ctx, f, cmd.Limit)
	if err != nil {
		return err
	}
	var all []listedWebhook
	for _, h := range sent {
		r := box.WebhookRecord(h)
		all = append(all, listedWebhook{r.ID, r.Account, r.Event, r.ChatID, r.URL, h.State, r.CreatedOn,
			r.Attempts, r.LastOn, r.LastError, r.DueOn, r.UntilOn})
	}
	return list(c, cmd.JSON, all, []string{"ID", "CREATED", "EVENT", "STATE", "ATTEMPTS", "LAST ERROR", "URL"},
		func(l listedWebhook) []string {
			return []string{l.ID, time.UnixMilli(l.CreatedMS).Format(time.DateTime), l.Event, l.describe(time.Now()),
				fmt.Sprint(l.Attempts), l.LastError, l.URL}
		})
}

// listedWebhook is a webhook of a list, as --json prints it. Times are Unix milliseconds.
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
	// the next attempt; absent if it waits for an earlier webhook of its chat
	DueMS   int64 `json:"due_ms,omitempty"`
	UntilMS int64 `json:"until_ms,omitempty"` // when attempts end
}

// describe returns the state in words.
func (l listedWebhook) describe(now time.Time) string {
	switch {
	case l.State != store.WebhookWaiting:
		return string(l.State)
	case l.DueMS == 0:
		return "waits for an earlier one"
	case l.Attempts == 0 || !time.UnixMilli(l.DueMS).After(now):
		return "due"
	}
	return "again in " + time.UnixMilli(l.DueMS).Sub(now).Round(time.Second).String()
}

// printChanged prints how many webhooks were changed. Named webhooks that were not
// changed are an error.
func (cmd *webhooksCmd) printChanged(c *console, f store.WebhookFilter, done string, n int, err error) error {
	switch named := len(f.IDs); {
	case err != nil:
		return err
	case n < named:
		return fmt.Errorf("%d of %d ids are not of webhooks that can be %s: parley webhooks shows ids and states",
			named-n, named, done)
	}
	return c.print(cmd.JSON, map[string]int{done: n}, "%d webhooks %s\n", n, done)
}

// testReceiver sends the example.
func (cmd *webhooksCmd) testReceiver(ctx context.Context, c *console, cfg config.Config, s *store.Store) error {
	name := cmd.Account
	if name == "" {
		name = "default"
	}
	a, err := account(ctx, s, name)
	if err != nil {
		return err
	}
	key, err := s.SigningKey(ctx, a.ID)
	if err != nil {
		return err
	}
	took, err := box.TryWebhook(ctx, cfg, key, cmd.Test)
	if err != nil {
		return fmt.Errorf("not delivered: %w", err)
	}
	return c.print(cmd.JSON, map[string]any{"delivered": true, "milliseconds": took.Milliseconds()},
		"delivered, in %d ms\n", took.Milliseconds())
}
