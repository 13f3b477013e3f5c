package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/contract"
	"parley/store"
)

// keysCmd manages the keys of a box, running or not.
type keysCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Create     keysCreateCmd  `cmd:"" help:"Create a key, or give a key new secrets."`
	List       keysListCmd    `cmd:"" help:"List the keys, also those of screens."`
	Revoke     keysRevokeCmd  `cmd:"" help:"Revoke a key, at once and for ever; a screen's conversation ends."`
	SigningKey keysSigningCmd `cmd:"" help:"Print the key that signs an account's webhooks."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// credentials are the secrets of a key, as --json prints them.
type credentials struct {
	KeyID             string        `json:"key_id"`
	Role              store.KeyRole `json:"role"`
	APIKey            string        `json:"api_key"`
	SecretKey         string        `json:"secret_key"`
	WebhookSigningKey string        `json:"webhook_signing_key"`
	ExpiresMS         int64         `json:"expires_ms,omitempty"`
}

type keysCreateCmd struct {
	Account string        `default:"default" predictor:"account" help:"Account of the key; may be new."`
	Label   string        `help:"Label to find the key again."`
	Role    string        `enum:"client,operator," default:"" placeholder:"ROLE" help:"client or operator."`
	Expires time.Duration `placeholder:"DURATION" help:"End and delete the key after this time, such as 24h."`
	Renew   string        `placeholder:"KEY-ID" predictor:"key" help:"Give this key new secrets; the old ones end."`
}

func (keysCreateCmd) Help() string {
	return `Examples:

  parley keys create --data /var/lib/parley --label kiosk --json

  parley keys create --renew 4tQpYz0aBcDe

A client's key gives access to the chats, configs and history of its account; an operator's also to the figures and ` +
		`the control of the whole box. Without --role the first key of a box is an operator's, and later keys are ` +
		`clients'.`
}

// Validate checks the flags.
func (cmd *keysCreateCmd) Validate() error {
	if cmd.Expires < 0 {
		return fmt.Errorf("--expires %v is in the past: use a time such as 24h", cmd.Expires)
	}
	return errors.Join(contract.CheckAccountName(cmd.Account), contract.CheckKeyLabel(cmd.Label))
}

// Run creates a key and prints it.
func (cmd *keysCreateCmd) Run(ctx context.Context, c *console, s *store.Store, k *keysCmd) error {
	made, err := cmd.create(ctx, s)
	if err != nil {
		return err
	}
	until := ""
	if made.ExpiresMS != 0 {
		until = ", until " + time.UnixMilli(made.ExpiresMS).Format(time.DateTime)
	}
	return c.print(k.JSON, credentials{made.KeyID, made.Role, made.APIKey, made.SecretKey, made.WebhookSigningKey,
		made.ExpiresMS},
		"API key              %s\nsecret key           %s\nwebhook signing key  %s\nkey id               %s\n"+
			"role                 %s%s\nThe API key and the secret key are not stored: note them now.\n",
		made.APIKey, made.SecretKey, made.WebhookSigningKey, made.KeyID, made.Role, until)
}

func (cmd *keysCreateCmd) create(ctx context.Context, s *store.Store) (store.Credentials, error) {
	if cmd.Renew != "" {
		made, err := s.RegenerateKey(ctx, cmd.Renew)
		return made, noKey(err, cmd.Renew)
	}
	wanted := store.NewKey{Account: cmd.Account, Label: cmd.Label, Role: store.KeyRole(cmd.Role)}
	if cmd.Expires > 0 {
		wanted.ExpiresMS = time.Now().Add(cmd.Expires).UnixMilli()
	}
	return s.CreateKey(ctx, wanted)
}

type keysListCmd struct {
	Account string `predictor:"account" help:"Only keys of this account."`
	Screens bool   `help:"Only keys of screens."`
}

func (keysListCmd) Help() string {
	return "Examples:\n\n  parley keys list --json\n\n  parley keys list --screens"
}

// listedKey is a key of a list, as --json prints it.
type listedKey struct {
	KeyID     string        `json:"key_id"`
	Account   string        `json:"account"`
	Label     string        `json:"label"`
	Role      store.KeyRole `json:"role"`
	Hint      string        `json:"hint"` // the last characters of the API key
	CreatedMS int64         `json:"created_ms"`
	UsedMS    int64         `json:"last_used_ms,omitempty"` // up to five minutes late; absent: never
	RevokedMS int64         `json:"revoked_ms,omitempty"`
	ExpiresMS int64         `json:"expires_ms,omitempty"`
	// the config of a screen, empty for the default assistant; absent for other keys
	ScreenConfig *string `json:"screen_config_id,omitempty"`
}

// Run lists the keys.
func (cmd *keysListCmd) Run(ctx context.Context, c *console, s *store.Store, k *keysCmd) error {
	id, err := accountID(ctx, s, cmd.Account)
	if err != nil {
		return err
	}
	keys, err := s.ListKeys(ctx, id)
	if err != nil {
		return err
	}
	var all []listedKey
	for _, key := range keys {
		if !cmd.Screens || key.Kiosk != nil {
			all = append(all, listedKey{key.ID, key.Account, key.Label, key.Role, key.Hint, key.CreatedMS,
				key.UsedMS, key.RevokedMS, key.ExpiresMS, key.Kiosk})
		}
	}
	head := []string{"KEY ID", "ACCOUNT", "ROLE", "API KEY", "CREATED", "LAST USED", "STATE", "LABEL"}
	return list(c, k.JSON, all, head, listedKey.row)
}

func (k listedKey) row() []string {
	role, state, used := string(k.Role), "good", "never"
	if k.ScreenConfig != nil {
		role = strings.TrimSpace("screen " + *k.ScreenConfig)
	}
	if k.UsedMS != 0 {
		used = minute(k.UsedMS)
	}
	switch {
	case k.RevokedMS != 0:
		state = "revoked " + day(k.RevokedMS)
	case k.ExpiresMS != 0:
		state = "until " + minute(k.ExpiresMS)
	}
	return []string{k.KeyID, k.Account, role, "…" + k.Hint, day(k.CreatedMS), used, state, k.Label}
}

func day(ms int64) string    { return time.UnixMilli(ms).Format(time.DateOnly) }
func minute(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04") }

type keysRevokeCmd struct {
	KeyID string `arg:"" predictor:"key" help:"The key's id, from parley keys list."`
}

func (keysRevokeCmd) Help() string { return "Example:\n\n  parley keys revoke 4tQpYz0aBcDe" }

// Run revokes the key.
func (cmd *keysRevokeCmd) Run(ctx context.Context, c *console, s *store.Store, k *keysCmd) error {
	err := s.RevokeKeyUnlessLast(ctx, cmd.KeyID)
	last := errors.Is(err, store.ErrLastOperator)
	if last {
		err = s.RevokeKey(ctx, cmd.KeyID)
	}
	if err != nil {
		return noKey(err, cmd.KeyID)
	}
	if last {
		fmt.Fprintln(c.err, "It was the last operator's key that never expires: no program can control the box until "+
			"parley keys create --role operator creates another one.")
	}
	return c.print(k.JSON, map[string]string{"key_id": cmd.KeyID, "state": "revoked"}, "key %s is revoked\n", cmd.KeyID)
}

func noKey(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no valid key %.80q: parley keys list shows the ids", id)
	}
	return err
}

type keysSigningCmd struct {
	Account string `default:"default" predictor:"account" help:"Account of the webhooks."`
	New     bool   `xor:"key" help:"Replace the key by a new one; receivers need it."`
	Set     bool   `xor:"key" help:"Replace the key by the one on standard input."`
}

func (keysSigningCmd) Help() string {
	return "With --set and the key that the receivers of a former service check (a signing key or an API key) they " +
		"need no change.\n\n" +
		"Examples:\n\n  parley keys signing-key --account default\n\n  echo \"$OLD_KEY\" | parley keys signing-key " +
		"--set"
}

// The length of a signing key that the operator sets: a shorter key could be guessed, and
// no service has longer keys.
const shortestSigningKey, longestSigningKey = 16, 512

// readSigningKey reads a signing key from in.
func readSigningKey(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, 2*longestSigningKey))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	visible := func(r rune) bool { return r > ' ' && r <= '~' }
	if n := len(key); n < shortestSigningKey || n > longestSigningKey || strings.TrimFunc(key, visible) != "" {
		return "", fmt.Errorf("signing key: standard input has %d bytes: "+
			"use %d to %d visible ASCII characters", n, shortestSigningKey, longestSigningKey)
	}
	return key, nil
}

// Run prints the account's signing key.
func (cmd *keysSigningCmd) Run(ctx context.Context, c *console, s *store.Store, k *keysCmd) error {
	a, err := account(ctx, s, cmd.Account)
	if err != nil {
		return err
	}
	var key string
	switch {
	case cmd.New:
		key, err = s.NewSigningKey(ctx, a.ID)
	case cmd.Set:
		if key, err = readSigningKey(c.in); err == nil {
			err = s.SetSigningKey(ctx, a.ID, key)
		}
	default:
		key, err = s.SigningKey(ctx, a.ID)
	}
	if err != nil {
		return err
	}
	return c.print(k.JSON, map[string]string{"account": a.Name, "webhook_signing_key": key}, "%s\n", key)
}
