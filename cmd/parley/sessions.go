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

// consoleCmd lets browsers in to the console of a box, and out.
type consoleCmd struct {
	Account  string `predictor:"account" help:"Account that the console acts for at first (the first operator's)."`
	Sessions bool   `xor:"do" help:"List the browsers that are signed in, and print no link."`
	End      string `xor:"do" placeholder:"ID" help:"Sign this browser out, at once; all: everybody, and end the links."`
	JSON     bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (consoleCmd) Help() string {
	return `Examples:

  parley console --data /var/lib/parley

  parley console --sessions

  parley console --end 4tQpYz0aBcDe

It prints a link that signs a browser in. The link is good once, for ten minutes, and lets its browser do all that a ` +
		`key of an operator may.`
}

// Run makes a link, or lists or ends sessions.
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
		return fmt.Errorf("the box whose data lies in %s does not run: start it with parley serve, which prints a "+
			"link by itself", cfg.Data)
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

// consoleLink is a link, as JSON prints it.
type consoleLink struct {
	URL       string   `json:"url"`                 // as this machine opens it
	Elsewhere []string `json:"elsewhere,omitempty"` // as others do
	ExpiresMS int64    `json:"expires_ms"`
}

func (l consoleLink) words() string {
	words, which := l.URL+"\n", "it"
	if len(l.Elsewhere) > 0 {
		words += "\nFrom another machine:\n" + strings.Join(l.Elsewhere, "\n") + "\n"
		which = "one of them"
	}
	words += fmt.Sprintf("\nOpen %s in a browser, once, until %s. Who has it may do all that an operator may.\n", which,
		time.UnixMilli(l.ExpiresMS).Format("15:04"))
	switch secure := strings.HasPrefix(l.URL, "https:"); {
	case secure:
	case len(l.Elsewhere) == 0:
		words += "The box listens to this machine alone. Let another one in with ssh -L, or with the settings listen " +
			"and tls.\n"
	default:
		words += "From another machine the page has no microphone, and what it sends can be read on the way: TLS is " +
			"off.\n"
	}
	return words
}

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
		err = fmt.Errorf("no session %.80q: parley console --sessions shows the ids", cmd.End)
	}
	if err != nil {
		return err
	}
	return c.print(cmd.JSON, map[string]int64{"ended": ended}, "%d ended\n", ended)
}
