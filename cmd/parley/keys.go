package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/cmd/parley/terminal"
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
	KeyID             string        `json:"key_id"`
	Role              store.KeyRole `json:"role"`
	APIKey            string        `json:"api_key"`
	SecretKey         string        `json:"secret_key"`
	WebhookSigningKey string        `json:"webhook_signing_key"`
	ExpiresMS         int64         `json:"expires_ms,omitempty"`
}

// boxRecords opens the database of the box whose data lies in the folder of the
// settings, beside the box if it runs. Only parley serve begins a data folder.
func boxRecords(ctx context.Context, cfg config.Config) (*store.Store, error) {
	s, err := store.Join(ctx, cfg.Data)
	if !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	return nil, noBox(cfg.Data)
}

// with opens the database, does one thing in it, and closes it.
func (*keysCmd) with(ctx context.Context, c *console, parsed *kong.Context, do func(*store.Store) error) error {
	return withRecords(ctx, c, parsed, "keys", do)
}

// withRecords opens the database for a command, does one thing in it, and closes
// it.
func withRecords(ctx context.Context, c *console, parsed *kong.Context, command string,
	do func(*store.Store) error) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	s, err := boxRecords(ctx, cfg)
	if err != nil {
		return fmt.Errorf("%s: %w", command, err)
	}
	return errors.Join(do(s), s.Close())
}

func (k *keysCmd) print(c *console, made store.Credentials) error {
	if k.JSON {
		return c.json(credentials{made.KeyID, made.Role, made.APIKey, made.SecretKey, made.WebhookSigningKey,
			made.ExpiresMS})
	}
	until := ""
	if made.ExpiresMS != 0 {
		until = ", until " + time.UnixMilli(made.ExpiresMS).Format(time.DateTime)
	}
	_, err := fmt.Fprintf(c.out, "API key              %s\nsecret key           %s\nwebhook signing key  %s\nkey id  "+
		"             %s\nrole                 %s%s\nThe API key and the secret are not kept: note them now.\n",
		made.APIKey, made.SecretKey, made.WebhookSigningKey, made.KeyID, made.Role, until)
	return err
}

type keysCreateCmd struct {
	Account string        `default:"default" help:"Account that the key opens; made if there is none (default)."`
	Label   string        `help:"What the key is for, to find it again."`
	Role    string        `enum:"client,operator," default:"" help:"client: chats, configs and history of its account. operator: also figures and control of the whole box. (client; operator for the first key of a box)"`
	Expires time.Duration `placeholder:"DURATION" help:"Make the key useless after this time, such as 24h, and forget it. (never)"`
}

// Help shows the command in use.
func (keysCreateCmd) Help() string {
	return "Example:\n\n  parley keys create --data /var/lib/parley --label kiosk --json"
}

// Run makes a key and prints it.
func (cmd *keysCreateCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	if err := errors.Join(contract.CheckAccountName(cmd.Account), contract.CheckKeyLabel(cmd.Label)); err != nil {
		return misuse{fmt.Errorf("keys: %w", err)}
	}
	wanted := store.NewKey{Account: cmd.Account, Label: cmd.Label, Role: store.KeyRole(cmd.Role)}
	switch {
	case cmd.Expires < 0:
		return misuse{fmt.Errorf("keys: --expires %v is over already; give a time such as 24h", cmd.Expires)}
	case cmd.Expires > 0:
		wanted.ExpiresMS = time.Now().Add(cmd.Expires).UnixMilli()
	}
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		made, err := s.CreateKey(ctx, wanted)
		if err != nil {
			return fmt.Errorf("keys: %w", err)
		}
		return k.print(c, made)
	})
}

type keysListCmd struct {
	Account string `help:"Only those of this account."`
}

// Help shows the command in use.
func (keysListCmd) Help() string { return "Example:\n\n  parley keys list --json" }

// listedKey is a key in a list, as JSON prints it.
type listedKey struct {
	KeyID     string        `json:"key_id"`
	Account   string        `json:"account"`
	Label     string        `json:"label"`
	Role      store.KeyRole `json:"role"`
	Hint      string        `json:"hint"` // the last characters of the API key
	CreatedMS int64         `json:"created_ms"`
	UsedMS    int64         `json:"last_used_ms,omitempty"` // five minutes behind at most; absent: never
	RevokedMS int64         `json:"revoked_ms,omitempty"`
	ExpiresMS int64         `json:"expires_ms,omitempty"`
}

// Run lists the keys.
func (cmd *keysListCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
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
			listed = append(listed, listedKey{key.ID, key.Account, key.Label, key.Role, key.Hint, key.CreatedMS,
				key.UsedMS, key.RevokedMS, key.ExpiresMS})
		}
		return c.json(listed)
	}
	t := &terminal.Table{Head: []string{"KEY ID", "ACCOUNT", "ROLE", "API KEY", "CREATED", "LAST USED", "STATE",
		"LABEL"}}
	for _, key := range all {
		state, used := "good", "never"
		if key.UsedMS != 0 {
			used = minute(key.UsedMS)
		}
		switch {
		case key.RevokedMS != 0:
			state = "revoked " + day(key.RevokedMS)
		case key.ExpiresMS != 0:
			state = "until " + time.UnixMilli(key.ExpiresMS).Format("2006-01-02 15:04")
		}
		t.Add(key.ID, key.Account, string(key.Role), "…"+key.Hint, day(key.CreatedMS), used, state, key.Label)
	}
	return c.table(t)
}

func day(ms int64) string { return time.UnixMilli(ms).Format(time.DateOnly) }

type keysRevokeCmd struct {
	KeyID string `arg:"" help:"The key's id, from parley keys list."`
}

// Help shows the command in use.
func (keysRevokeCmd) Help() string { return "Example:\n\n  parley keys revoke 4tQpYz0aBcDe" }

// Run revokes the key.
func (cmd *keysRevokeCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		err := s.RevokeKeyButLast(ctx, cmd.KeyID)
		last := errors.Is(err, store.ErrLastOperator)
		if last {
			err = s.RevokeKey(ctx, cmd.KeyID)
		}
		if err != nil {
			return noKey(err, cmd.KeyID)
		}
		if last {
			fmt.Fprintln(c.err, "It was the last operator's key that has no end: no program steers the box until "+
				"parley keys create --role operator makes another one.")
		}
		if k.JSON {
			return c.json(map[string]string{"key_id": cmd.KeyID, "state": "revoked"})
		}
		_, err = fmt.Fprintf(c.out, "key %s is revoked\n", cmd.KeyID)
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
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		made, err := s.RegenerateKey(ctx, cmd.KeyID)
		if err != nil {
			return noKey(err, cmd.KeyID)
		}
		return k.print(c, made)
	})
}

type keysSigningCmd struct {
	Account string `default:"default" help:"Account whose webhooks are signed (default)."`
	New     bool   `xor:"key" help:"Make a new one first; receivers must be told."`
	Set     bool   `xor:"key" help:"Read the one that receivers know already from the standard input first."`
}

// Help shows the command in use.
func (keysSigningCmd) Help() string {
	return "Receivers of a former service go on unchanged with --set and the key that they check: " +
		"its signing key, or an API key.\n\n" +
		"Example:\n\n  parley keys signing-key --account default\n  echo \"$OLD_KEY\" | parley keys signing-key --set"
}

// A signing key that is set has 16 to 512 characters: what has fewer can be
// guessed, and no service's keys have more.
const shortestSigningKey, longestSigningKey = 16, 512

// readSigningKey reads the key that is to be set.
func readSigningKey(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, 2*longestSigningKey))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	visible := func(r rune) bool { return r > ' ' && r <= '~' }
	if n := len(key); n < shortestSigningKey || n > longestSigningKey || strings.TrimFunc(key, visible) != "" {
		return "", fmt.Errorf("signing key: the standard input has %d bytes of text; "+
			"a key has %d to %d visible ASCII characters", n, shortestSigningKey, longestSigningKey)
	}
	return key, nil
}

// Run prints the account's signing key.
func (cmd *keysSigningCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *keysCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		a, err := account(ctx, s, cmd.Account)
		if err != nil {
			return err
		}
		read := s.SigningKey
		if cmd.New {
			read = s.NewSigningKey
		}
		if cmd.Set {
			key, err := readSigningKey(c.in)
			if err == nil {
				err = s.SetSigningKey(ctx, a.ID, key)
			}
			if err != nil {
				return fmt.Errorf("keys: %w", err)
			}
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
