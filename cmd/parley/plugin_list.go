package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/contract"
	"parley/appliance/plugins"
	"parley/cmd/parley/terminal"
	"parley/plugins/manifest"
	"parley/plugins/shelf"
)

type pluginListCmd struct {
	pluginBox `embed:""`
}

// Help shows the command in use.
func (pluginListCmd) Help() string {
	return "Examples:\n\n  parley plugin list\n\n  parley plugin list --json | jq -r '.[] | select(.state != " +
		"\"ready\") | .name'\n\nA plugin is ready, incomplete (a required setting has no value), broken (it failed " +
		"three times in a row and is left alone for a while) or stopped (its files, its signature or its secrets are " +
		"not what they have to be)."
}

// Run lists the plugins.
func (cmd *pluginListCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p := &cmd.pluginBox
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		all, err := s.List(ctx)
		if err != nil {
			return err
		}
		if p.JSON {
			listed := make([]contract.ReturnPlugin, 0, len(all))
			for _, i := range all {
				listed = append(listed, plugins.Record(i))
			}
			return c.json(listed)
		}
		t := &terminal.Table{Head: []string{"NAME", "VERSION", "STATE", "TOOLS", "MAY", "WHY"}}
		for _, i := range all {
			var tools, may []string
			for _, tool := range i.Manifest.Tools {
				tools = append(tools, tool.Name)
			}
			for _, g := range i.Granted {
				may = append(may, g.Name)
			}
			t.Add(i.Name, i.Version, string(i.State), strings.Join(append(tools, i.Manifest.Hooks...), " "),
				strings.Join(may, " "), why(i))
		}
		return c.table(t)
	})
}

// why is why a plugin is not ready, and until when.
func why(i shelf.Info) string {
	if i.State != shelf.Broken {
		return i.Why
	}
	return fmt.Sprintf("since %s, tried again from %s on: %s", clock(i.BrokenMS), clock(i.RetryMS), i.Why)
}

func clock(ms int64) string { return time.UnixMilli(ms).Format(time.TimeOnly) }

type pluginShowCmd struct {
	pluginBox `embed:""`

	Name string `arg:"" help:"The plugin's name, from parley plugin list."`
}

// Help shows the command in use.
func (pluginShowCmd) Help() string {
	return "Example:\n\n  parley plugin show weather\n\nSecrets are shown to nobody: only whether they are set."
}

// Run shows the plugin.
func (cmd *pluginShowCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p := &cmd.pluginBox
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		i, err := s.Show(ctx, cmd.Name)
		if err != nil {
			return err
		}
		if p.JSON {
			return c.json(plugins.Record(i))
		}
		_, err = fmt.Fprint(c.out, describePlugin(i))
		return err
	})
}

// describePlugin is all that is known of a plugin, in words.
func describePlugin(i shelf.Info) string {
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
	line("state", "%s", strings.TrimSuffix(string(i.State)+": "+why(i), ": "))
	line("signed", "%s", signedBy(i))
	line("installed", "%s", time.UnixMilli(i.InstalledMS).Format(time.DateTime))
	line("changed", "%s", time.UnixMilli(i.ChangedMS).Format(time.DateTime))
	line("keeps", "%d bytes", i.Keeps)
	for _, t := range i.Manifest.Tools {
		line("tool", "%s (%s, id %s): %s", t.Name, t.Timeout, shelf.ToolID(i.Name, t.Name), t.Description)
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
		line("setting", "%s = %s", s.Name, toldWords(s))
	}
	return b.String()
}

func signedBy(i shelf.Info) string {
	switch {
	case i.Signer == "":
		return "no"
	case i.Trusted:
		return "by " + i.Signer + ", which this box trusts"
	}
	return "by " + i.Signer + ", which this box does not know"
}

func toldWords(s shelf.Setting) string {
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
