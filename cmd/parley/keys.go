package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"parley/store"
)

// keysCmd manages the keys of a box, while it runs or not.
type keysCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Create     keysCreateCmd     `cmd:"" help:"Make a key."`
	List       keysListCmd       `cmd:"" help:"List the keys."`
	Revoke     keysRevokeCmd     `cmd:"" help:"Make a key useless, at once and for ever."`
	Regenerate keysRegenerateCmd `cmd:"" help:"Give a key new secrets; the old ones fail at once."`
	SigningKey keysSigningCmd    `cmd:"" help:"Print the key that an account's webhooks are signed with."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// credentials are what a key's owner needs, as JSON prints them.
type credentials struct {
	KeyID             string `json:"key_id"`
	APIKey            string `json:"api_key"`
	SecretKey         string `json:"secret_key"`
	WebhookSigningKey string `json:"webhook_signing_key"`
}

// records opens the box's database. Only making a key may make the database.
func (k *keysCmd) records(ctx context.Context, c *console, parsed *kong.Context, create bool) (*store.Store, error) {
	cfg, err := c.config(parsed)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, "parley.db")); err != nil && !create {
		return nil, fmt.Errorf("keys: no box has its data in %s: name the folder with --data, or make a key with parley keys create", cfg.Data)
	}
	return store.Open(ctx, cfg.Data, c.quietLogger(cfg.Log))
}

// with opens the database, does one thing in it, and closes it.
func (k *keysCmd) with(ctx context.Context, c *console, parsed *kong.Context, create bool, do func(*store.Store) error) error {
	s, err := k.records(ctx, c, parsed, create)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

func (k *keysCmd) print(c *console, made store.Credentials) error {
	if k.JSON {
		return c.json(credentials(made))
	}
	_, err := fmt.Fprintf(c.out, "API key              %s\nsecret key           %s\nwebhook signing key  %s\nkey id               %s\nThe API key and the secret are not kept: note them now.\n",
		made.APIKey, made.SecretKey, made.WebhookSigningKey, made.KeyID)
	return err
}

type keysCreateCmd struct {
	Account string `default:"default" help:"Account that the key opens; made if there is none (default)."`
	Label   string `help:"What the key is for, to find it again."`
}

// Help shows the command in use.
func (keysCreateCmd) Help() string {
	return "Example:\n\n  parley keys create --data /var/lib/parley --label kiosk --json"
}

// Run makes a key and prints it.
func (cmd *keysCreateCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, true, func(s *store.Store) error {
		made, err := s.CreateKey(ctx, cmd.Account, cmd.Label)
		if err != nil {
			return asMisuse(err)
		}
		return k.print(c, made)
	})
}

// asMisuse marks the errors that the caller's values caused.
func asMisuse(err error) error {
	if _, ok := errors.AsType[store.ErrInvalid](err); ok {
		return misuse{fmt.Errorf("keys: %w", err)}
	}
	return fmt.Errorf("keys: %w", err)
}

type keysListCmd struct {
	Account string `help:"Only those of this account."`
}

// Help shows the command in use.
func (keysListCmd) Help() string { return "Example:\n\n  parley keys list --json" }

// listedKey is a key in a list, as JSON prints it.
type listedKey struct {
	KeyID     string `json:"key_id"`
	Account   string `json:"account"`
	Label     string `json:"label"`
	Hint      string `json:"hint"` // the last characters of the API key
	CreatedMS int64  `json:"created_ms"`
	RevokedMS int64  `json:"revoked_ms,omitempty"`
}

// Run lists the keys.
func (cmd *keysListCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, false, func(s *store.Store) error {
		id := ""
		if cmd.Account != "" {
			a, err := account(ctx, s, cmd.Account)
			if err != nil {
				return err
			}
			id = a.ID
		}
		all, err := s.ListKeys(ctx, id)
		if err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		return k.list(c, all)
	})
}

func (k *keysCmd) list(c *console, all []store.Key) error {
	if k.JSON {
		listed := make([]listedKey, 0, len(all))
		for _, key := range all {
			listed = append(listed, listedKey{key.ID, key.Account, key.Label, key.Hint, key.CreatedMS, key.RevokedMS})
		}
		return c.json(listed)
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "KEY ID\tACCOUNT\tAPI KEY\tCREATED\tSTATE\tLABEL")
	for _, key := range all {
		state := "good"
		if key.RevokedMS != 0 {
			state = "revoked " + day(key.RevokedMS)
		}
		fmt.Fprintf(w, "%s\t%s\t…%s\t%s\t%s\t%s\n", key.ID, key.Account, key.Hint, day(key.CreatedMS), state, key.Label)
	}
	return w.Flush()
}

func day(ms int64) string { return time.UnixMilli(ms).Format(time.DateOnly) }

type keysRevokeCmd struct {
	KeyID string `arg:"" help:"The key's id, from parley keys list."`
}

// Help shows the command in use.
func (keysRevokeCmd) Help() string { return "Example:\n\n  parley keys revoke 4tQpYz0aBcDe" }

// Run revokes the key.
func (cmd *keysRevokeCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, false, func(s *store.Store) error {
		if err := s.RevokeKey(ctx, cmd.KeyID); err != nil {
			return noKey(err, cmd.KeyID)
		}
		if k.JSON {
			return c.json(map[string]string{"key_id": cmd.KeyID, "state": "revoked"})
		}
		_, err := fmt.Fprintf(c.out, "key %s is revoked\n", cmd.KeyID)
		return err
	})
}

type keysRegenerateCmd struct {
	KeyID string `arg:"" help:"The key's id, from parley keys list."`
}

// Help shows the command in use.
func (keysRegenerateCmd) Help() string {
	return "Example:\n\n  parley keys regenerate 4tQpYz0aBcDe --json"
}

// Run gives the key new secrets and prints them.
func (cmd *keysRegenerateCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, false, func(s *store.Store) error {
		made, err := s.RegenerateKey(ctx, cmd.KeyID)
		if err != nil {
			return noKey(err, cmd.KeyID)
		}
		return k.print(c, made)
	})
}

type keysSigningCmd struct {
	Account string `default:"default" help:"Account whose webhooks are signed (default)."`
	New     bool   `help:"Make a new one first; receivers must be told."`
}

// Help shows the command in use.
func (keysSigningCmd) Help() string { return "Example:\n\n  parley keys signing-key --account default" }

// Run prints the account's signing key.
func (cmd *keysSigningCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, false, func(s *store.Store) error {
		a, err := account(ctx, s, cmd.Account)
		if err != nil {
			return err
		}
		read := s.SigningKey
		if cmd.New {
			read = s.NewSigningKey
		}
		key, err := read(ctx, a.ID)
		if err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		if k.JSON {
			return c.json(map[string]string{"account": a.Name, "webhook_signing_key": key})
		}
		_, err = fmt.Fprintln(c.out, key)
		return err
	})
}

func account(ctx context.Context, s *store.Store, name string) (store.Account, error) {
	a, err := s.Account(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return a, fmt.Errorf("keys: there is no account %.80q: parley keys list shows those that are", name)
	}
	return a, err
}

func noKey(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("keys: no key %.80q that is not revoked: parley keys list shows the ids", id)
	}
	return fmt.Errorf("keys: %w", err)
}
