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

// keysCmd manages the keys of a box, while it runs or not.
type keysCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Create     keysCreateCmd  `cmd:"" help:"Make a key, or give one new secrets."`
	List       keysListCmd    `cmd:"" help:"List the keys, those of screens too."`
	Revoke     keysRevokeCmd  `cmd:"" help:"Revoke a key, at once and for ever; a screen's conversation ends."`
	SigningKey keysSigningCmd `cmd:"" help:"Print the key that an account's webhooks are signed with."`

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

type keysCreateCmd struct {
	Account string        `default:"default" predictor:"account" help:"Account that it opens; may be new."`
	Label   string        `help:"What the key is for, to find it again."`
	Role    string        `enum:"client,operator," default:"" placeholder:"ROLE" help:"client, or operator (of all)."`
	Expires time.Duration `placeholder:"DURATION" help:"End the key after this time, such as 24h, and forget it."`
	Renew   string        `placeholder:"KEY-ID" predictor:"key" help:"Give this key new secrets; the old ones fail."`
}

func (keysCreateCmd) Help() string {
	return `Examples:

  parley keys create --data /var/lib/parley --label kiosk --json

  parley keys create --renew 4tQpYz0aBcDe

A client's key has the chats, configs and history of its account; an operator's also the figures and the control of ` +
		`the whole box. The first key of a box is an operator's, where --role says nothing.`
}

// Validate refuses what no key can be.
func (cmd *keysCreateCmd) Validate() error {
	if cmd.Expires < 0 {
		return fmt.Errorf("--expires %v is over already; give a time such as 24h", cmd.Expires)
	}
	return errors.Join(contract.CheckAccountName(cmd.Account), contract.CheckKeyLabel(cmd.Label))
}

// Run makes a key and prints it.
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
			"role                 %s%s\nThe API key and the secret are not kept: note them now.\n",
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
	Account string `predictor:"account" help:"Only those of this account."`
	Screens bool   `help:"Only those of screens that talk."`
}

func (keysListCmd) Help() string {
	return "Examples:\n\n  parley keys list --json\n\n  parley keys list --screens"
}

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
	// the config of a screen, empty for the box's own; absent: no screen's key
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
		fmt.Fprintln(c.err, "It was the last operator's key that has no end: no program steers the box until "+
			"parley keys create --role operator makes another one.")
	}
	return c.print(k.JSON, map[string]string{"key_id": cmd.KeyID, "state": "revoked"}, "key %s is revoked\n", cmd.KeyID)
}

func noKey(err error, id string) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("no key %.80q that is not revoked: parley keys list shows the ids", id)
	}
	return err
}

type keysSigningCmd struct {
	Account string `default:"default" predictor:"account" help:"Account whose webhooks are signed."`
	New     bool   `xor:"key" help:"Make a new one first; receivers must be told."`
	Set     bool   `xor:"key" help:"Read the one that receivers know already from the standard input first."`
}

func (keysSigningCmd) Help() string {
	return "Receivers of a former service go on unchanged with --set and the key that they check: " +
		"its signing key, or an API key.\n\n" +
		"Examples:\n\n  parley keys signing-key --account default\n\n  echo \"$OLD_KEY\" | parley keys signing-key " +
		"--set"
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
