package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/store"
)

// kioskCmd creates a code that pairs a screen, whether or not the box runs.
type kioskCmd struct {
	Name      string `default:"Kiosk" help:"Name of the screen, which it shows."`
	PairedFor string `name:"for" placeholder:"CONFIG" help:"Id or name of the screen's config (the default assistant)."`
	Account   string `default:"default" predictor:"account" help:"Account of the config."`
	JSON      bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (kioskCmd) Help() string {
	return "Example:\n\n  parley kiosk --name Lobby --for \"Museum guide\"\n\n" +
		"Open http://BOX:8080/kiosk on the screen and type the code, or open the printed address. parley keys list " +
		"--screens lists the screens, and parley keys revoke ends a pairing and its conversation."
}

// Validate checks the flags.
func (cmd *kioskCmd) Validate() error {
	return errors.Join(contract.CheckAccountName(cmd.Account), contract.CheckKeyLabel(cmd.Name))
}

// pairing is a code, as --json prints it.
type pairing struct {
	Code      string   `json:"code"`
	Name      string   `json:"name"`
	ConfigID  string   `json:"config_id,omitempty"`
	URL       string   `json:"url,omitempty"`       // of the running box, for this machine
	Elsewhere []string `json:"elsewhere,omitempty"` // for other machines
	ExpiresMS int64    `json:"expires_ms"`
}

// Run creates a code and prints it.
func (cmd *kioskCmd) Run(ctx context.Context, c *console, cfg config.Config, s *store.Store) error {
	url, elsewhere, err := boxURLs(cfg)
	if err != nil {
		return err
	}
	made := pairing{Name: cmd.Name}
	if cmd.PairedFor != "" {
		a, err := account(ctx, s, cmd.Account)
		if err != nil {
			return err
		}
		if made.ConfigID, err = box.ConfigID(ctx, s, a, cmd.PairedFor); err != nil {
			return fmt.Errorf("--for: %w", err)
		}
	}
	at := time.Now()
	made.Code, err = s.StartPairing(ctx, cmd.Account, store.Kiosk{Name: cmd.Name, ConfigID: made.ConfigID}, at)
	if err != nil {
		return err
	}
	made.ExpiresMS = at.Add(store.PairingLife).UnixMilli()
	if url != "" {
		made.URL = kioskLink(url, made.Code)
	}
	for _, url := range elsewhere {
		made.Elsewhere = append(made.Elsewhere, kioskLink(url, made.Code))
	}
	return c.print(cmd.JSON, made, "code  %s\n\nIt pairs one screen, until %s. %s\n", made.Code,
		time.UnixMilli(made.ExpiresMS).Format("15:04"), made.where())
}

// kioskLink returns the address that pairs a screen with the box at url.
func kioskLink(url, code string) string { return url + "/kiosk#" + code }

// where says where to type the code.
func (p pairing) where() string {
	where := "Start the box, and open its page /kiosk on the screen."
	if p.URL != "" {
		where = "Open /kiosk on the screen and type it, or open on this machine:\n  " + p.URL
	}
	if len(p.Elsewhere) > 0 {
		where += "\nor on another one:\n  " + strings.Join(p.Elsewhere, "\n  ")
		if !strings.HasPrefix(p.URL, "https:") {
			where += "\nThere the page has no microphone, since TLS is off: browsers allow it only over https."
		}
	}
	return where
}
