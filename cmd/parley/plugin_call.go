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

	"parley/appliance/plugins"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/plugins/sandbox"
	"parley/store"
)

type pluginCallCmd struct {
	pluginBox `embed:""`

	Name       string `arg:"" predictor:"plugin" help:"The plugin's name, from parley plugin list."`
	Parameters string `arg:"" optional:"" default:"{}" help:"A JSON object; - reads it from the input. ({})"`
	Tool       string `help:"Which of its tools, or a hook; needed where it has more than one."`
	Caller     string `help:"Who calls: any text that tells them apart. Empty is nobody who is known."`
	Account    string `predictor:"account" help:"The account for which it is called: what it keeps is an account's."`
}

func (pluginCallCmd) Help() string {
	return `Example:

  parley plugin call opening-hours '{"place": "museum"}'

  parley plugin call notes --tool add_note - < note.json

It runs as in a chat: with what it may do and was told, and with its limits; parameters that do not fit the tool's ` +
		`schema are refused. The answer goes to the output; time, memory and what it logs to the error output. Exits ` +
		`with 1 and the message where the tool fails. A plugin that is left alone because it failed is called all ` +
		`the same, and what comes of it does not count.`
}

// callResult is what came of a call, as JSON prints it.
type callResult struct {
	Content      string  `json:"content"`
	Milliseconds float64 `json:"milliseconds"`
	MemoryBytes  int64   `json:"memory_bytes"`
}

// Run calls the tool.
func (cmd *pluginCallCmd) Run(ctx context.Context, c *console, s *registry.Registry) error {
	i, err := s.Show(ctx, cmd.Name)
	if err != nil {
		return err
	}
	tool, err := cmd.tool(i.Manifest)
	if err != nil {
		return err
	}
	parameters, err := cmd.parameters(c)
	if err != nil {
		return err
	}
	if err := plugins.CheckParameters(i.Manifest, tool, parameters); err != nil {
		return misuse{fmt.Errorf("the parameters do not fit %s: %w; parley plugin list %s --json has its schema", tool,
			err, cmd.Name)}
	}
	id, err := cmd.account(ctx, s.Records)
	if err != nil {
		return err
	}
	r, err := s.Try(ctx, registry.Origin{Account: id, Caller: cmd.Caller, OnLog: func(l registry.Line) {
		fmt.Fprintf(c.err, "%s: %s\n", l.Level, l.Text)
	}}, cmd.Name, tool, json.RawMessage(parameters))
	if r.Took > 0 {
		fmt.Fprintf(c.err, "%.1f ms, %.1f MiB of memory\n", milliseconds(r.Took), float64(r.Memory)/(1<<20))
	}
	if err != nil {
		return err
	}
	end := ""
	if onTerminal(c.out) && !strings.HasSuffix(r.Content, "\n") {
		end = "\n"
	}
	return c.print(cmd.JSON, callResult{r.Content, milliseconds(r.Took), r.Memory}, "%s%s", r.Content, end)
}

// parameters are a JSON object.
func (cmd *pluginCallCmd) parameters(c *console) (string, error) {
	text := []byte(cmd.Parameters)
	if cmd.Parameters == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(c.in, sandbox.MaxParameters+1)); err != nil {
			return "", fmt.Errorf("reading the parameters: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil || object == nil {
		return "", misuse{fmt.Errorf("the parameters %.80q are no JSON object, like '{\"place\": \"museum\"}'", text)}
	}
	return string(text), nil
}

// account is the id of the account for which the tool is called. A box that has
// made no key yet has none, and a plugin then has nowhere to keep anything.
func (cmd *pluginCallCmd) account(ctx context.Context, records *store.Store) (string, error) {
	a, err := records.Account(ctx, cmp.Or(cmd.Account, "default"))
	if errors.Is(err, store.ErrNotFound) {
		return accountID(ctx, records, cmd.Account)
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
		return "", misuse{fmt.Errorf("say which of its tools with --tool: %s", strings.Join(all, ", "))}
	}
	for _, name := range all {
		if name == cmd.Tool {
			return name, nil
		}
	}
	return "", misuse{fmt.Errorf("%s has no tool %.80q; it has: %s", cmd.Name, cmd.Tool,
		strings.Join(all, ", "))}
}
