package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"parley/plugins/registry"
)

type pluginSetCmd struct {
	pluginBox `embed:""`

	Name   string   `arg:"" predictor:"plugin" help:"The plugin's name, from parley plugin list."`
	Pairs  []string `arg:"" optional:"" name:"key=value" help:"Settings; KEY alone reads the value from the input."`
	Unset  []string `placeholder:"KEY" help:"Delete this setting. May be repeated."`
	Grant  []string `placeholder:"WHAT" help:"Grant this permission, or all. May be repeated."`
	Revoke []string `placeholder:"WHAT" help:"Revoke this permission, or all. May be repeated."`
	Remove bool     `help:"Remove the plugin with its settings, its storage and its log."`
	Yes    bool     `short:"y" help:"Ask nothing, with --remove."`
}

func (pluginSetCmd) Help() string {
	return `Examples:

  parley plugin set weather city=Ulm units=metric

  parley plugin set weather api_key < /run/secrets/weather

  parley plugin set weather --grant http:api.example.org --grant storage

  parley plugin set menu --grant files:/menu=/home/shop/menu

  parley plugin set prices --grant http:192.168.1.20:8080=GET+POST

  parley plugin set weather --revoke http:api.example.org

  parley plugin set weather --remove --yes

Secrets are read from the terminal, without echo, or from standard input. The database stores them encrypted with a ` +
		`key (plugins.key in the data folder) that is in no backup: after a restore on another machine they must ` +
		`be set again.

parley plugin list NAME shows the permissions that it asks for: http:HOST, files:FOLDER, env:NAME, storage, ` +
		`conversation, memory, or all. A folder may be mapped to another one on this box, and a host may be one ` +
		`that the plugin does not ask for, such as a server of yours. Changes take effect with the next call. ` +
		`Configs lose the tools of a removed plugin from the next turn on.`
}

// Validate refuses several kinds of changes at once, some of which could fail.
func (cmd *pluginSetCmd) Validate() error {
	kinds := 0
	for _, given := range []bool{
		len(cmd.Pairs)+len(cmd.Unset) > 0, len(cmd.Grant) > 0, len(cmd.Revoke) > 0, cmd.Remove,
	} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds != 1:
		return errors.New(
			"give settings (KEY=VALUE, KEY to enter its value, --unset KEY), or --grant, or --revoke, or --remove")
	case cmd.Yes && !cmd.Remove:
		return errors.New("--yes goes with --remove: nothing else is asked")
	}
	return nil
}

// Run changes the plugin.
func (cmd *pluginSetCmd) Run(ctx context.Context, c *console, s *registry.Registry) error {
	var done string
	var err error
	switch {
	case cmd.Remove:
		return cmd.remove(ctx, c, s)
	case len(cmd.Grant) > 0:
		done, err = "was granted "+strings.Join(cmd.Grant, ", "), s.Grant(ctx, cmd.Name, cmd.Grant)
	case len(cmd.Revoke) > 0:
		done, err = "lost "+strings.Join(cmd.Revoke, ", "), s.Revoke(ctx, cmd.Name, cmd.Revoke)
	default:
		done, err = "has new settings", cmd.set(ctx, c, s)
	}
	if err != nil {
		return err
	}
	return cmd.printState(ctx, c, s, cmd.Name, done)
}

// set changes the settings.
func (cmd *pluginSetCmd) set(ctx context.Context, c *console, s *registry.Registry) error {
	values := map[string]*string{}
	for _, pair := range cmd.Pairs {
		key, value, given := strings.Cut(pair, "=")
		if !given {
			var err error
			if value, err = c.readSecret(key); err != nil {
				return fmt.Errorf("reading %s: %w", key, err)
			}
		}
		values[key] = &value
	}
	for _, key := range cmd.Unset {
		values[key] = nil
	}
	return s.Set(ctx, cmd.Name, values)
}

// remove removes the plugin.
func (cmd *pluginSetCmd) remove(ctx context.Context, c *console, s *registry.Registry) error {
	i, err := s.Show(ctx, cmd.Name)
	if err != nil {
		return err
	}
	if !cmd.Yes {
		question := fmt.Sprintf("Remove %s %s, with its settings and its storage of %d bytes?", i.Name, i.Version,
			i.StoredBytes)
		yes, err := c.confirm(question, "--yes")
		if err != nil {
			return err
		}
		if !yes {
			return fmt.Errorf("%s was not removed", i.Name)
		}
	}
	if err := s.Remove(ctx, cmd.Name); err != nil {
		return err
	}
	return c.print(cmd.JSON, map[string]string{"name": i.Name, "state": "removed"}, "%s %s is removed\n", i.Name,
		i.Version)
}

// readSecret reads a line, without echo on a terminal.
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
