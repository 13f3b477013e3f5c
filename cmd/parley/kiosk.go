package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/contract"
	"parley/cmd/parley/terminal"
	"parley/store"
)

// kioskCmd looks after the screens of a box, while it runs or not.
type kioskCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Pair   kioskPairCmd   `cmd:"" help:"Make a code with which a screen is paired."`
	List   kioskListCmd   `cmd:"" help:"List the screens."`
	Revoke kioskRevokeCmd `cmd:"" help:"End a screen's pairing, and its conversation."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// with opens the database, does one thing in it, and closes it.
func (*kioskCmd) with(ctx context.Context, c *console, parsed *kong.Context, do func(*store.Store) error) error {
	return withRecords(ctx, c, parsed, "kiosk", do)
}

type kioskPairCmd struct {
	Name      string `default:"Kiosk" help:"What the screen is called, to find it again; it shows it (Kiosk)."`
	PairedFor string `name:"for" placeholder:"CONFIG" help:"Id or name of the config that it talks by; without one, the box's own assistant."`
	Account   string `default:"default" help:"Account whose config it is (default)."`
}

// Help shows the command in use.
func (kioskPairCmd) Help() string {
	return "Example:\n\n  parley kiosk pair --name Lobby --for \"Museum guide\"\n\nOpen http://BOX:8080/kiosk on the " +
		"screen and type the code, or open the address that is printed."
}

// pairing is a code, as JSON prints it.
type pairing struct {
	Code      string   `json:"code"`
	Name      string   `json:"name"`
	ConfigID  string   `json:"config_id,omitempty"`
	URL       string   `json:"url,omitempty"`       // of the running box, as this machine opens it
	Elsewhere []string `json:"elsewhere,omitempty"` // as others do
	ExpiresMS int64    `json:"expires_ms"`
}

// Run makes a code and prints it.
func (cmd *kioskPairCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *kioskCmd) error {
	if err := errors.Join(contract.CheckAccountName(cmd.Account), contract.CheckKeyLabel(cmd.Name)); err != nil {
		return misuse{fmt.Errorf("kiosk: %w", err)}
	}
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	running, err := appliance.Running(cfg.Data)
	if err != nil {
		return fmt.Errorf("kiosk: %w", err)
	}
	elsewhere, err := appliance.Elsewhere(cfg.Data)
	if err != nil {
		return fmt.Errorf("kiosk: %w", err)
	}
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		made := pairing{Name: cmd.Name}
		var err error
		if made.ConfigID, err = cmd.config(ctx, s); err != nil {
			return err
		}
		at := time.Now()
		if made.Code, err = s.StartPairing(ctx, cmd.Account, store.Kiosk{Name: cmd.Name, ConfigID: made.ConfigID},
			at); err != nil {
			return fmt.Errorf("kiosk: %w", err)
		}
		made.ExpiresMS = at.Add(store.PairingLife).UnixMilli()
		if running != "" {
			made.URL = kioskLink(running, made.Code)
		}
		for _, url := range elsewhere {
			made.Elsewhere = append(made.Elsewhere, kioskLink(url, made.Code))
		}
		if k.JSON {
			return c.json(made)
		}
		return made.print(c)
	})
}

// kioskLink is the address that pairs a screen with the box at url.
func kioskLink(url, code string) string { return url + "/kiosk#" + code }

func (p pairing) print(c *console) error {
	where := "Start the box, and open its page /kiosk on the screen."
	if p.URL != "" {
		where = "Open /kiosk on the screen and type it, or open on this machine:\n  " + p.URL
	}
	if len(p.Elsewhere) > 0 {
		where += "\nor on another one:\n  " + strings.Join(p.Elsewhere, "\n  ")
	}
	if len(p.Elsewhere) > 0 && !strings.HasPrefix(p.URL, "https:") {
		where += "\nThere it has no microphone, since TLS is off: browsers give it to pages over https."
	}
	_, err := fmt.Fprintf(c.out, "code  %s\n\nIt pairs one screen, until %s. %s\n", p.Code,
		time.UnixMilli(p.ExpiresMS).Format("15:04"), where)
	return err
}

// config is the id of the config that is meant by an id or a name.
func (cmd *kioskPairCmd) config(ctx context.Context, s *store.Store) (string, error) {
	if cmd.PairedFor == "" {
		return "", nil
	}
	a, err := s.Account(ctx, cmd.Account)
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("kiosk: there is no account %.80q: parley keys list shows those that are", cmd.Account)
	}
	if err != nil {
		return "", fmt.Errorf("kiosk: %w", err)
	}
	id, err := appliance.ConfigID(ctx, s, a, cmd.PairedFor)
	if err != nil {
		return "", fmt.Errorf("kiosk: --for: %w", err)
	}
	return id, nil
}

type kioskListCmd struct{}

// Help shows the command in use.
func (kioskListCmd) Help() string { return "Example:\n\n  parley kiosk list --json" }

// listedKiosk is a screen in a list, as JSON prints it.
type listedKiosk struct {
	KeyID     string `json:"key_id"`
	Name      string `json:"name"`
	Account   string `json:"account"`
	ConfigID  string `json:"config_id,omitempty"`
	CreatedMS int64  `json:"created_ms"`
	RevokedMS int64  `json:"revoked_ms,omitempty"`
}

// Run lists the screens.
func (kioskListCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *kioskCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		all, err := s.ListKeys(ctx, "")
		if err != nil {
			return fmt.Errorf("kiosk: %w", err)
		}
		screens := []listedKiosk{}
		for _, key := range all {
			if key.Kiosk != nil {
				screens = append(screens,
					listedKiosk{key.ID, key.Label, key.Account, *key.Kiosk, key.CreatedMS, key.RevokedMS})
			}
		}
		if k.JSON {
			return c.json(screens)
		}
		return listScreens(c, screens)
	})
}

func listScreens(c *console, screens []listedKiosk) error {
	t := &terminal.Table{Head: []string{"KEY ID", "NAME", "ACCOUNT", "CONFIG", "PAIRED", "STATE"}}
	for _, k := range screens {
		state := "paired"
		if k.RevokedMS != 0 {
			state = "revoked " + day(k.RevokedMS)
		}
		t.Add(k.KeyID, k.Name, k.Account, cmp.Or(k.ConfigID, "the box's own"), day(k.CreatedMS), state)
	}
	return c.table(t)
}

type kioskRevokeCmd struct {
	KeyID string `arg:"" help:"The screen's key id, from parley kiosk list."`
}

// Help shows the command in use.
func (kioskRevokeCmd) Help() string { return "Example:\n\n  parley kiosk revoke 4tQpYz0aBcDe" }

// Run ends the pairing.
func (cmd *kioskRevokeCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *kioskCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		all, err := s.ListKeys(ctx, "")
		if err != nil {
			return fmt.Errorf("kiosk: %w", err)
		}
		for _, key := range all {
			if key.ID != cmd.KeyID || key.Kiosk == nil || key.RevokedMS != 0 {
				continue
			}
			if err := s.RevokeKey(ctx, cmd.KeyID); err != nil {
				return noKey(err, cmd.KeyID)
			}
			if k.JSON {
				return c.json(map[string]string{"key_id": cmd.KeyID, "state": "revoked"})
			}
			_, err := fmt.Fprintf(c.out, "the screen %s is not paired any more\n", strings.TrimSpace(key.Label))
			return err
		}
		return fmt.Errorf("kiosk: no screen %.80q that is paired: parley kiosk list shows the ids", cmd.KeyID)
	})
}
