package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/store"
)

// consoleCmd signs browsers in to the console of a box, and out.
type consoleCmd struct {
	Account  string `predictor:"account" help:"First account of the console (the first operator's)."`
	Sessions bool   `xor:"do" help:"List the browsers that are signed in, and print no link."`
	End      string `xor:"do" placeholder:"ID" help:"Sign this browser out; all: all, and end links."`
	JSON     bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (consoleCmd) Help() string {
	return `Examples:

  parley console --data /var/lib/parley

  parley console --sessions

  parley console --end 4tQpYz0aBcDe

It prints a link that signs a browser in. The link works once, within ten minutes, and gives the browser all rights ` +
		`of an operator's key.`
}

// Run creates a link, or lists or ends sessions.
func (cmd *consoleCmd) Run(ctx context.Context, c *console, cfg config.Config, s *store.Store) error {
	switch {
	case cmd.Sessions:
		return cmd.list(ctx, c, s)
	case cmd.End != "":
		return cmd.end(ctx, c, s)
	}
	url, elsewhere, err := boxURLs(cfg)
	switch {
	case err != nil:
		return err
	case url == "":
		return fmt.Errorf("the box with its data in %s does not run: start it with parley serve, which also prints "+
			"a link", cfg.Data)
	}
	if _, err := accountID(ctx, s, cmd.Account); err != nil {
		return err
	}
	at := time.Now()
	made, err := s.StartSignIn(ctx, cmd.Account, at)
	if err != nil {
		return err
	}
	link := consoleLink{URL: signInURL(url, made), ExpiresMS: at.Add(store.SignInLife).UnixMilli()}
	for _, url := range elsewhere {
		link.Elsewhere = append(link.Elsewhere, signInURL(url, made))
	}
	return c.print(cmd.JSON, link, "%s", link.words())
}

// consoleLink is a link, as --json prints it.
type consoleLink struct {
	URL       string   `json:"url"`                 // for this machine
	Elsewhere []string `json:"elsewhere,omitempty"` // for other machines
	ExpiresMS int64    `json:"expires_ms"`
}

func (l consoleLink) words() string {
	words, which := l.URL+"\n", "it"
	if len(l.Elsewhere) > 0 {
		words += "\nFrom another machine:\n" + strings.Join(l.Elsewhere, "\n") + "\n"
		which = "one of them"
	}
	words += fmt.Sprintf("\nOpen %s in a browser, once, until %s. It gives all rights of an operator.\n", which,
		time.UnixMilli(l.ExpiresMS).Format("15:04"))
	switch secure := strings.HasPrefix(l.URL, "https:"); {
	case secure:
	case len(l.Elsewhere) == 0:
		words += "The box listens on this machine only. Allow others with ssh -L, or with the settings listen " +
			"and tls.\n"
	default:
		words += "TLS is off: from another machine the page has no microphone, and its traffic is not " +
			"encrypted.\n"
	}
	return words
}

// listedSession is a session of a list, as --json prints it.
type listedSession struct {
	ID        string `json:"id"`
	Account   string `json:"account"`
	Browser   string `json:"browser"`
	Address   string `json:"address"`
	CreatedMS int64  `json:"created_ms"`
	UsedMS    int64  `json:"used_ms"`
	ExpiresMS int64  `json:"expires_ms"`
}

func (cmd *consoleCmd) list(ctx context.Context, c *console, s *store.Store) error {
	sessions, err := s.Sessions(ctx, time.Now())
	if err != nil {
		return err
	}
	var all []listedSession
	for _, one := range sessions {
		all = append(all, listedSession(one))
	}
	head := []string{"ID", "ACCOUNT", "FROM", "SIGNED IN", "LAST USED", "ENDS", "BROWSER"}
	return list(c, cmd.JSON, all, head, func(l listedSession) []string {
		return []string{l.ID, l.Account, l.Address, minute(l.CreatedMS), minute(l.UsedMS), minute(l.ExpiresMS),
			l.Browser}
	})
}

func (cmd *consoleCmd) end(ctx context.Context, c *console, s *store.Store) error {
	ended := int64(1)
	var err error
	if cmd.End == "all" {
		ended, err = s.EndSessions(ctx)
	} else if err = s.EndSession(ctx, cmd.End); errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no session %.80q: parley console --sessions shows the ids", cmd.End)
	}
	if err != nil {
		return err
	}
	return c.print(cmd.JSON, map[string]int64{"ended": ended}, "%d ended\n", ended)
}
