package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"parley/plugins/shelf"
)

type pluginGrantCmd struct {
	pluginBox `embed:""`

	Name string   `arg:"" help:"The plugin's name, from parley plugin list."`
	What []string `arg:"" help:"What it may do: http:HOST, files:FOLDER, env:NAME, storage, conversation, memory, or all that it asks for."`
}

// Help shows the command in use.
func (pluginGrantCmd) Help() string {
	return `Examples:

  parley plugin grant weather http:api.example.org storage

  parley plugin grant menu files:/menu=/home/shop/menu

  parley plugin grant prices http:192.168.1.20:8080=GET+POST

parley plugin show says what it asks for, and by which words. A folder may be another one on this box than the ` +
		`plugin asks for; a host may be one that it does not ask for, such as a server of yours. It holds from the ` +
		`next call on.`
}

// Run lets the plugin do more.
func (cmd *pluginGrantCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	return cmd.change(ctx, c, parsed, cmd.Name, "was granted "+strings.Join(cmd.What, ", "),
		func(s *shelf.Shelf) error {
			return s.Grant(ctx, cmd.Name, cmd.What)
		})
}

type pluginRevokeCmd struct {
	pluginBox `embed:""`

	Name string   `arg:"" help:"The plugin's name, from parley plugin list."`
	What []string `arg:"" help:"What it may do no longer, by the words of parley plugin show; all for everything."`
}

// Help shows the command in use.
func (pluginRevokeCmd) Help() string {
	return "Example:\n\n  parley plugin revoke weather http:api.example.org\n\nIt holds from the next call on. What " +
		"it keeps stays until it is removed."
}

// Run lets the plugin do less.
func (cmd *pluginRevokeCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	return cmd.change(ctx, c, parsed, cmd.Name, "was revoked "+strings.Join(cmd.What, ", "),
		func(s *shelf.Shelf) error {
			return s.Revoke(ctx, cmd.Name, cmd.What)
		})
}

type pluginSetCmd struct {
	pluginBox `embed:""`

	Name  string   `arg:"" help:"The plugin's name, from parley plugin list."`
	Pairs []string `arg:"" optional:"" name:"key=value" help:"Settings. KEY alone reads its value from the terminal, where it is not shown, or else from the input: for secrets."`
	Unset []string `placeholder:"KEY" help:"Forget this setting. May be repeated."`
}

// Help shows the command in use.
func (pluginSetCmd) Help() string {
	return `Examples:

  parley plugin set weather city=Ulm units=metric

  parley plugin set weather api_key

  parley plugin set weather api_key < /run/secrets/weather

Secrets are encrypted in the database, with a key (plugins.key in the data folder) that no backup holds: after a ` +
		`restore on another machine they are set again. It holds from the next call on.`
}

// Run tells the plugin its settings.
func (cmd *pluginSetCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	if len(cmd.Pairs)+len(cmd.Unset) == 0 {
		return misuse{errors.New("plugin: give KEY=VALUE, KEY to be asked for its value, or --unset KEY")}
	}
	values := map[string]*string{}
	for _, pair := range cmd.Pairs {
		key, value, given := strings.Cut(pair, "=")
		if !given {
			var err error
			if value, err = c.readSecret(key); err != nil {
				return fmt.Errorf("plugin: reading %s: %w", key, err)
			}
		}
		values[key] = &value
	}
	for _, key := range cmd.Unset {
		values[key] = nil
	}
	return cmd.change(ctx, c, parsed, cmd.Name, "was told", func(s *shelf.Shelf) error {
		return s.Set(ctx, cmd.Name, values)
	})
}

// readSecret reads one line, without showing it where it is typed.
func (c *console) readSecret(name string) (string, error) {
	if f, ok := c.in.(*os.File); ok && onTerminal(c.in) {
		fmt.Fprintf(c.err, "%s: ", name)
		text, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(c.err)
		return string(text), err
	}
	line, err := bufio.NewReader(io.LimitReader(c.in, 1<<20)).ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}
