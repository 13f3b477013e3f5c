package main

import (
	"context"
	"fmt"
	"strings"

	"parley/appliance/config"
	"parley/appliance/plugins"
	"parley/plugins/registry"
	"parley/store"
)

type pluginInstallCmd struct {
	pluginBox     `embed:""`
	pluginSource  `embed:""`
	pluginConsent `embed:""`
}

func (pluginInstallCmd) Help() string {
	return `Examples:

  parley plugin install opening-hours.wasm

  parley plugin install weather.wasm --grant http:api.example.org --set city=Ulm

  parley plugin install ./layout --tag 1.2.0 --yes --data /var/lib/parley

It shows what the plugin asks for, in words, and asks. A box that runs has the tools from the next turn on. ` +
		`--grant allows http:HOST, files:FOLDER, env:NAME, storage, conversation, memory, all or none, and may be ` +
		`repeated. ` +
		`A value in it changes what is granted: files:/menu=/home/shop/menu shows it that folder as /menu, ` +
		`http:192.168.1.20:8080=GET+POST lets it talk to a server of yours.

A plugin of that name which is installed is upgraded, and what the new version newly asks for is asked. It first ` +
		`runs the cases that came along in it (tests/*.json of its author); where it fails them, or cannot be loaded, ` +
		`the old one stays as it is. What the plugin was told and keeps stays, and what it may do, as far as the new ` +
		`version asks for it. Calls on their way end with the old one.

A signature is read from opening-hours.wasm.sig beside it. From an OCI layout (a folder or a tar file), as ` +
		`registries' tools make it: one layer is the module (application/wasm), and one titled like it with .sig ` +
		`behind its signature.`
}

// Run installs or upgrades the plugin.
func (cmd *pluginInstallCmd) Run(ctx context.Context, c *console, cfg config.Config, records *store.Store) error {
	return cmd.install(ctx, c, cfg, records, cmd.pluginSource, cmd.pluginConsent)
}

// install brings a plugin to the box, with the consent of who installs it.
func (p *pluginBox) install(ctx context.Context, c *console, cfg config.Config, records *store.Store, from pluginSource,
	consent pluginConsent) error {
	cfg.PluginSignatures.Required = cfg.PluginSignatures.Required || consent.RequireSignature
	s := c.shelf(cfg, records)
	o, err := from.examine(ctx, c, s)
	if err != nil {
		return err
	}
	place, verb, done := s.Install, "Install", "is installed"
	if o.Installed != nil {
		place, verb, done = s.Upgrade, "Upgrade", "was upgraded from "+o.Installed.Version
	}
	choice, err := consent.decide(c, o, verb)
	if err != nil {
		return err
	}
	if err := place(ctx, o, choice); err != nil {
		return err
	}
	return p.printState(ctx, c, s, o.Package.Manifest.Name, done)
}

type pluginRemoveCmd struct {
	pluginBox `embed:""`

	Name string `arg:"" predictor:"plugin" help:"The plugin's name, from parley plugin list."`
	Yes  bool   `short:"y" help:"Ask nothing."`
}

func (pluginRemoveCmd) Help() string {
	return "Example:\n\n  parley plugin remove weather --yes\n\nIts settings, what it keeps and its log go with it. " +
		"Configs that have its tools have one tool less from the next turn on."
}

// Run removes the plugin.
func (cmd *pluginRemoveCmd) Run(ctx context.Context, c *console, s *registry.Registry) error {
	i, err := s.Show(ctx, cmd.Name)
	if err != nil {
		return err
	}
	if !cmd.Yes {
		question := fmt.Sprintf("Remove %s %s, with its settings and the %d bytes that it keeps?", i.Name, i.Version,
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

// printState says what a plugin is after it was changed.
func (p *pluginBox) printState(ctx context.Context, c *console, s *registry.Registry, name, what string) error {
	i, err := s.Show(ctx, name)
	if err != nil {
		return err
	}
	may := "may do nothing but answer"
	if len(i.Granted) > 0 {
		var words []string
		for _, g := range i.Granted {
			words = append(words, g.Words)
		}
		may = strings.Join(words, "; ")
	}
	state := ""
	if i.Why != "" {
		state = fmt.Sprintf("It is %s: %s\n", i.State, i.Why)
	}
	return c.print(p.JSON, plugins.Record(i), "%s %s %s; it %s\n%s", i.Name, i.Version, what, may, state)
}
