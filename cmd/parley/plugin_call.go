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
	Parameters string `arg:"" optional:"" default:"{}" help:"JSON object; - reads stdin. ({})"`
	Tool       string `help:"Tool or hook to call (its only tool)."`
	Caller     string `help:"Caller: any text that tells callers apart; empty: unknown."`
	Account    string `predictor:"account" help:"Account for which it is called, and whose storage it uses."`
}

func (pluginCallCmd) Help() string {
	return `Example:

  parley plugin call opening-hours '{"place": "museum"}'

  parley plugin call notes --tool add_note - < note.json

It runs as in a chat, with its permissions, settings and limits. Parameters must match the tool's schema. The ` +
		`result goes to standard output; time, memory and log lines to standard error. If the tool fails, the ` +
		`command prints its message and exits with 1. A plugin that is paused after failures is called too, and ` +
		`the result does not affect the pause.`
}

// callResult is the result of a call, as --json prints it.
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
		return misuse{fmt.Errorf("the parameters do not match the schema of %s: %w; "+
			"parley plugin list %s --json shows it", tool, err, cmd.Name)}
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

// parameters returns the parameters, which must be a JSON object.
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
		return "", misuse{fmt.Errorf(
			"the parameters %.80q are not a JSON object, such as '{\"place\": \"museum\"}'", text)}
	}
	return string(text), nil
}

// account returns the id of the account for which the tool is called. A box without keys
// has no account, and a plugin then has no storage.
func (cmd *pluginCallCmd) account(ctx context.Context, records *store.Store) (string, error) {
	a, err := records.Account(ctx, cmp.Or(cmd.Account, "default"))
	if errors.Is(err, store.ErrNotFound) {
		return accountID(ctx, records, cmd.Account)
	}
	return a.ID, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// tool returns the name of the tool or hook to call.
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
		return "", misuse{fmt.Errorf("it has several tools: choose one with --tool: %s", strings.Join(all, ", "))}
	}
	for _, name := range all {
		if name == cmd.Tool {
			return name, nil
		}
	}
	return "", misuse{fmt.Errorf("%s has no tool %.80q; it has: %s", cmd.Name, cmd.Tool,
		strings.Join(all, ", "))}
}
