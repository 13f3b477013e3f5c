package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/plugins"
	"parley/plugins/manifest"
	"parley/plugins/sandbox"
	"parley/plugins/shelf"
	"parley/store"
)

type pluginCallCmd struct {
	pluginBox `embed:""`

	Name       string `arg:"" help:"The plugin's name, from parley plugin list."`
	Parameters string `arg:"" optional:"" default:"{}" help:"A JSON object; - reads it from the input. ({})"`
	Tool       string `help:"Which of its tools, or a hook; needed where it has more than one."`
	Caller     string `help:"Who calls: any text that tells them apart. Empty is nobody who is known."`
	Account    string `help:"The account for which it is called: what a plugin keeps is an account's. (default)"`
}

// Help shows the command in use.
func (pluginCallCmd) Help() string {
	return `Example:

  parley plugin call opening-hours '{"place": "museum"}'

  parley plugin call notes --tool add_note - < note.json

It runs as in a chat: with what it may do and was told, and with its limits; parameters that do not fit the tool's ` +
		`schema are refused. The answer goes to the output; time, memory and what it logs to the error output. Exits ` +
		`with 1 and the message where the tool fails. A plugin that is left alone because it failed is called all ` +
		`the same, and what comes of it does not count.`
}

// calledPlugin is what came of a call, as JSON prints it.
type calledPlugin struct {
	Content      string  `json:"content"`
	Milliseconds float64 `json:"milliseconds"`
	MemoryBytes  int64   `json:"memory_bytes"`
}

// Run calls the tool.
func (cmd *pluginCallCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p := &cmd.pluginBox
	if cmd.Parameters == "-" {
		text, err := io.ReadAll(io.LimitReader(c.in, sandbox.MaxParameters+1))
		if err != nil {
			return fmt.Errorf("plugin: reading the parameters: %w", err)
		}
		cmd.Parameters = string(text)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(cmd.Parameters), &object); err != nil || object == nil {
		return misuse{fmt.Errorf("plugin: the parameters %.80q are no JSON object, like '{\"place\": \"museum\"}'",
			cmd.Parameters)}
	}
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		i, err := s.Show(ctx, cmd.Name)
		if err != nil {
			return err
		}
		tool, err := cmd.tool(i.Manifest)
		if err != nil {
			return err
		}
		if err := plugins.CheckParameters(i.Manifest, tool, cmd.Parameters); err != nil {
			return misuse{
				fmt.Errorf("plugin: the parameters do not fit %s: %w; parley plugin show %s --json has its schema",
					tool, err, cmd.Name)}
		}
		id, err := cmd.account(ctx, s.Records)
		if err != nil {
			return err
		}
		r, err := s.Try(ctx, shelf.Who{Account: id, Caller: cmd.Caller, Tell: func(l shelf.Line) {
			fmt.Fprintf(c.err, "%s: %s\n", l.Level, l.Text)
		}}, cmd.Name, tool, json.RawMessage(cmd.Parameters))
		if r.Took > 0 {
			fmt.Fprintf(c.err, "%.1f ms, %.1f MiB of memory\n", milliseconds(r.Took), float64(r.Memory)/(1<<20))
		}
		if err != nil {
			return err
		}
		if p.JSON {
			return c.json(calledPlugin{r.Content, milliseconds(r.Took), r.Memory})
		}
		content := r.Content
		if onTerminal(c.out) && !strings.HasSuffix(content, "\n") {
			content += "\n"
		}
		_, err = io.WriteString(c.out, content)
		return err
	})
}

// account is the id of the account for which the tool is called. A box that has
// made no key yet has none, and a plugin then has nowhere to keep anything.
func (cmd *pluginCallCmd) account(ctx context.Context, records *store.Store) (string, error) {
	a, err := records.Account(ctx, cmp.Or(cmd.Account, "default"))
	if errors.Is(err, store.ErrNotFound) {
		if cmd.Account == "" {
			return "", nil
		}
		return "", fmt.Errorf("there is no account %.80q: parley keys list shows those that are", cmd.Account)
	}
	return a.ID, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// tool is the one that is meant.
func (cmd *pluginCallCmd) tool(m manifest.Manifest) (string, error) {
	var names []string
	for _, t := range m.Tools {
		names = append(names, t.Name)
	}
	all := append(names, m.Hooks...)
	switch {
	case cmd.Tool == "" && len(names) == 1:
		return names[0], nil
	case cmd.Tool == "":
		return "", misuse{fmt.Errorf("plugin: say which of its tools with --tool: %s", strings.Join(all, ", "))}
	}
	for _, name := range all {
		if name == cmd.Tool {
			return name, nil
		}
	}
	return "", misuse{fmt.Errorf("plugin: %s has no tool %.80q; it has: %s", cmd.Name, cmd.Tool,
		strings.Join(all, ", "))}
}

type pluginLogsCmd struct {
	pluginBox `embed:""`

	Name   string `arg:"" help:"The plugin's name, from parley plugin list."`
	Follow bool   `short:"f" help:"Go on with what comes, until Ctrl-C."`
	Lines  int    `short:"n" default:"100" help:"The newest so many (100)."`
}

// Help shows the command in use.
func (pluginLogsCmd) Help() string {
	return "Example:\n\n  parley plugin logs weather -f\n\nWhat plugins write and how their calls failed; about the " +
		"last 2 MiB of each are kept. Values of secrets are left out. With --json each line is an object."
}

// Run shows the log.
func (cmd *pluginLogsCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p := &cmd.pluginBox
	if cmd.Lines < 0 || cmd.Lines > 1_000_000 {
		return misuse{fmt.Errorf("plugin: --lines %d is not from 0 to 1000000", cmd.Lines)}
	}
	tell := func(l shelf.Line) error {
		if p.JSON {
			return c.json(l)
		}
		_, err := fmt.Fprintf(c.out, "%s %-5s %s%s\n", l.Time.Local().Format(time.DateTime), l.Level, prefix(l), l.Text)
		return err
	}
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		if cmd.Follow {
			err := s.Follow(ctx, cmd.Name, cmd.Lines, tell)
			if gone, ok := errors.AsType[shelf.ErrNotInstalled](err); ok && ctx.Err() == nil {
				return gone
			}
			return err
		}
		lines, err := s.Lines(ctx, cmd.Name, cmd.Lines)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := tell(l); err != nil {
				return err
			}
		}
		return nil
	})
}

// prefix is in which tool something was written.
func prefix(l shelf.Line) string {
	if l.Tool == "" {
		return ""
	}
	return l.Tool + ": "
}
