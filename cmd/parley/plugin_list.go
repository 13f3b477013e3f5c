package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/appliance/plugins"
	"parley/plugins/manifest"
	"parley/plugins/registry"
)

type pluginListCmd struct {
	pluginBox `embed:""`

	Name   string `arg:"" optional:"" predictor:"plugin" help:"Show this plugin in detail."`
	Logs   bool   `help:"Show its log, with the errors of its calls."`
	Follow bool   `short:"f" help:"With --logs: print new lines until Ctrl-C."`
	Lines  int    `short:"n" default:"100" help:"With --logs: number of newest lines."`
}

func (pluginListCmd) Help() string {
	return `Examples:

  parley plugin list

  parley plugin list --json | jq -r '.[] | select(.state != "ready") | .name'

  parley plugin list weather

  parley plugin list weather --logs -f

A plugin is ready, incomplete (a required setting has no value), broken (it failed three times in a row and is ` +
		`paused for a while) or stopped (its files, signature or secrets are not valid). Secrets are never shown, ` +
		`only whether they are set. A log has about its last 2 MiB, without the values of secrets; with --json ` +
		`each line is an object.`
}

// Validate checks the combination of flags.
func (cmd *pluginListCmd) Validate() error {
	switch {
	case cmd.Logs && cmd.Name == "":
		return errors.New("--logs needs the name of a plugin")
	case cmd.Lines < 0 || cmd.Lines > 1_000_000:
		return fmt.Errorf("--lines %d is not allowed: use 0 to 1000000", cmd.Lines)
	}
	return nil
}

// Run lists the plugins, or shows one.
func (cmd *pluginListCmd) Run(ctx context.Context, c *console, s *registry.Registry) error {
	switch {
	case cmd.Logs:
		return cmd.log(ctx, c, s)
	case cmd.Name != "":
		i, err := s.Show(ctx, cmd.Name)
		if err != nil {
			return err
		}
		return c.print(cmd.JSON, plugins.Record(i), "%s", describePlugin(i))
	}
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	if cmd.JSON {
		listed := []contract.ReturnPlugin{}
		for _, i := range all {
			listed = append(listed, plugins.Record(i))
		}
		return c.json(listed)
	}
	head := []string{"NAME", "VERSION", "STATE", "TOOLS", "MAY", "WHY"}
	return list(c, false, all, head, func(i registry.Info) []string {
		var tools, may []string
		for _, tool := range i.Manifest.Tools {
			tools = append(tools, tool.Name)
		}
		for _, g := range i.Granted {
			may = append(may, g.Name)
		}
		return []string{i.Name, i.Version, string(i.State), strings.Join(append(tools, i.Manifest.Hooks...), " "),
			strings.Join(may, " "), stateReason(i)}
	})
}

// log prints the log.
func (cmd *pluginListCmd) log(ctx context.Context, c *console, s *registry.Registry) error {
	tell := func(l registry.Line) error {
		tool := ""
		if l.Tool != "" {
			tool = l.Tool + ": "
		}
		return c.print(cmd.JSON, l, "%s %-5s %s%s\n", l.Time.Local().Format(time.DateTime), l.Level, tool, l.Text)
	}
	if cmd.Follow {
		return s.Follow(ctx, cmd.Name, cmd.Lines, tell)
	}
	lines, err := s.Lines(ctx, cmd.Name, cmd.Lines)
	for _, l := range lines {
		err = errors.Join(err, tell(l))
	}
	return err
}

// stateReason says why a plugin is not ready, and until when.
func stateReason(i registry.Info) string {
	if i.State != registry.Broken {
		return i.Why
	}
	return fmt.Sprintf("since %s, next try at %s: %s", clock(i.BrokenMS), clock(i.RetryMS), i.Why)
}

func clock(ms int64) string { return time.UnixMilli(ms).Format(time.TimeOnly) }

// describePlugin describes a plugin in detail.
func describePlugin(i registry.Info) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("name", "%s", i.Name)
	line("version", "%s", i.Version)
	line("description", "%s", i.Manifest.Description)
	if i.Manifest.License != "" {
		line("license", "%s", i.Manifest.License)
	}
	line("state", "%s", strings.TrimSuffix(string(i.State)+": "+stateReason(i), ": "))
	line("signed", "%s", signedBy(i))
	line("installed", "%s", time.UnixMilli(i.InstalledMS).Format(time.DateTime))
	line("changed", "%s", time.UnixMilli(i.ChangedMS).Format(time.DateTime))
	line("storage", "%d bytes", i.StoredBytes)
	for _, t := range i.Manifest.Tools {
		line("tool", "%s (%s, id %s): %s", t.Name, t.Timeout, registry.ToolID(i.Name, t.Name), t.Description)
	}
	for _, hook := range i.Manifest.Hooks {
		line("hook", "%s", hook)
	}
	for _, g := range i.Granted {
		line("granted", "%s (%s)", g.Words, g.Name)
	}
	for _, d := range i.Denied {
		line("not granted", "%s (%s)", d.Words, d.Name)
	}
	for _, s := range i.Settings {
		line("setting", "%s = %s", s.Name, describeSetting(s))
	}
	return b.String()
}

func signedBy(i registry.Info) string {
	switch {
	case i.Signer == "":
		return "no"
	case i.Trusted:
		return "by " + i.Signer + ", which this box trusts"
	}
	return "by " + i.Signer + ", which this box does not trust"
}

func describeSetting(s registry.Setting) string {
	switch {
	case s.Type == manifest.Secret && s.IsSet:
		return "(a secret, set)"
	case s.IsSet:
		return fmt.Sprintf("%q", s.Value)
	case s.Default != "":
		return fmt.Sprintf("%q (default)", s.Default)
	case s.Required:
		return "(not set, and required)"
	}
	return "(not set)"
}
