package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/contract"
	"parley/cmd/parley/terminal"
	"parley/store"
)

// consoleCmd lets browsers in to the console of a box, and out.
type consoleCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Link     consoleLinkCmd     `cmd:"" help:"Print a link that signs a browser in, once."`
	Sessions consoleSessionsCmd `cmd:"" help:"List the browsers that are signed in."`
	End      consoleEndCmd      `cmd:"" help:"Sign a browser out, at once."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

// with opens the database, does one thing in it, and closes it.
func (*consoleCmd) with(ctx context.Context, c *console, parsed *kong.Context, do func(*store.Store) error) error {
	return withRecords(ctx, c, parsed, "console", do)
}

type consoleLinkCmd struct {
	Account string `help:"Account that the console acts for at first; it can choose another one. (that of the first operator's key)"`
}

// Help shows the command in use.
func (consoleLinkCmd) Help() string {
	return "Example:\n\n  parley console link --data /var/lib/parley\n\nThe link is good once, for ten minutes, and " +
		"lets its browser do all that a key of an operator may."
}

// consoleLink is a link, as JSON prints it.
type consoleLink struct {
	URL       string   `json:"url"`                 // as this machine opens it
	Elsewhere []string `json:"elsewhere,omitempty"` // as others do
	ExpiresMS int64    `json:"expires_ms"`
}

// Run makes a link and prints it.
func (cmd *consoleLinkCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *consoleCmd) error {
	if cmd.Account != "" {
		if err := contract.CheckAccountName(cmd.Account); err != nil {
			return misuse{fmt.Errorf("console: %w", err)}
		}
	}
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	running, err := appliance.Running(cfg.Data)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	if running == "" {
		return fmt.Errorf("console: the box whose data lies in %s does not run: start it with parley serve, which "+
			"prints a link by itself", cfg.Data)
	}
	elsewhere, err := appliance.Elsewhere(cfg.Data)
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		if cmd.Account != "" {
			if _, err := account(ctx, s, cmd.Account); err != nil {
				return err
			}
		}
		at := time.Now()
		made, err := s.StartSignIn(ctx, cmd.Account, at)
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		link := consoleLink{URL: appliance.ConsoleLink(running, made), ExpiresMS: at.Add(store.SignInLife).UnixMilli()}
		for _, url := range elsewhere {
			link.Elsewhere = append(link.Elsewhere, appliance.ConsoleLink(url, made))
		}
		if k.JSON {
			return c.json(link)
		}
		return link.print(c)
	})
}

func (l consoleLink) print(c *console) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", l.URL)
	for i, url := range l.Elsewhere {
		if i == 0 {
			b.WriteString("\nFrom another machine:\n")
		}
		fmt.Fprintf(&b, "%s\n", url)
	}
	which := "it"
	if len(l.Elsewhere) > 0 {
		which = "one of them"
	}
	fmt.Fprintf(&b, "\nOpen %s in a browser, once, until %s. Who has it may do all that an operator may.\n", which,
		time.UnixMilli(l.ExpiresMS).Format("15:04"))
	switch secure := strings.HasPrefix(l.URL, "https:"); {
	case len(l.Elsewhere) == 0 && !secure:
		b.WriteString("The box listens to this machine alone. Let another one in with ssh -L, or with the settings " +
			"listen and tls.\n")
	case len(l.Elsewhere) > 0 && !secure:
		b.WriteString("From another machine the page has no microphone, and what it sends can be read on the way: " +
			"TLS is off.\n")
	}
	_, err := io.WriteString(c.out, b.String())
	return err
}

type consoleSessionsCmd struct{}

// Help shows the command in use.
func (consoleSessionsCmd) Help() string { return "Example:\n\n  parley console sessions --json" }

// listedSession is a session in a list, as JSON prints it.
type listedSession struct {
	ID        string `json:"id"`
	Account   string `json:"account"`
	Browser   string `json:"browser"`
	Address   string `json:"address"`
	CreatedMS int64  `json:"created_ms"`
	UsedMS    int64  `json:"used_ms"`
	ExpiresMS int64  `json:"expires_ms"`
}

// Run lists the sessions.
func (consoleSessionsCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *consoleCmd) error {
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		all, err := s.Sessions(ctx, time.Now())
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if k.JSON {
			listed := make([]listedSession, len(all))
			for i, one := range all {
				listed[i] = listedSession(one)
			}
			return c.json(listed)
		}
		t := &terminal.Table{Head: []string{"ID", "ACCOUNT", "FROM", "SIGNED IN", "LAST USED", "ENDS", "BROWSER"}}
		for _, one := range all {
			t.Add(one.ID, one.Account, one.Address, minute(one.CreatedMS), minute(one.UsedMS), minute(one.ExpiresMS),
				one.Browser)
		}
		return c.table(t)
	})
}

func minute(ms int64) string { return time.UnixMilli(ms).Format("2006-01-02 15:04") }

type consoleEndCmd struct {
	ID  string `arg:"" optional:"" help:"The session's id, from parley console sessions."`
	All bool   `help:"End all of them, and make the links useless that nobody has opened."`
}

// Help shows the command in use.
func (consoleEndCmd) Help() string {
	return "Example:\n\n  parley console end 4tQpYz0aBcDe\n  parley console end --all"
}

// Run ends a session, or all.
func (cmd *consoleEndCmd) Run(ctx context.Context, c *console, parsed *kong.Context, k *consoleCmd) error {
	if (cmd.ID == "") != cmd.All {
		return misuse{errors.New("console: give the id of one session, or --all")}
	}
	return k.with(ctx, c, parsed, func(s *store.Store) error {
		ended := int64(1)
		var err error
		if cmd.All {
			ended, err = s.EndSessions(ctx)
		} else if err = s.EndSession(ctx, cmd.ID); errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("console: no session %.80q: parley console sessions shows the ids", cmd.ID)
		}
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if k.JSON {
			return c.json(map[string]int64{"ended": ended})
		}
		_, err = fmt.Fprintf(c.out, "%d ended\n", ended)
		return err
	})
}
