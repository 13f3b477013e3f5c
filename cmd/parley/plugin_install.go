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

It shows the permissions that the plugin asks for, and asks for consent. A running box has the tools from the next ` +
		`turn on. --grant allows http:HOST, files:FOLDER, env:NAME, storage, conversation, memory, all or none, ` +
		`and may be repeated. A value changes what is granted: files:/menu=/home/shop/menu gives it that folder as ` +
		`/menu, http:192.168.1.20:8080=GET+POST lets it use a server of yours.

An installed plugin with that name is upgraded; consent is needed for new permissions only. First the test cases of ` +
		`its author (tests/*.json) run; if one fails, or the plugin cannot be loaded, the old version stays. The ` +
		`plugin keeps its settings, its storage, and the permissions that the new version asks for. Calls under ` +
		`way end with the old version.

The signature is in opening-hours.wasm.sig in the same folder. In an OCI layout (a folder or a tar file) one layer ` +
		`is the module (application/wasm), and one with the same title and .sig appended is its signature.`
}

// Run installs or upgrades the plugin.
func (cmd *pluginInstallCmd) Run(ctx context.Context, c *console, cfg config.Config, records *store.Store) error {
	return cmd.install(ctx, c, cfg, records, cmd.pluginSource, cmd.pluginConsent)
}

// install installs or upgrades a plugin with the installer's consent.
func (p *pluginBox) install(ctx context.Context, c *console, cfg config.Config, records *store.Store, from pluginSource,
	consent pluginConsent) error {
	cfg.PluginSignatures.Required = cfg.PluginSignatures.Required || consent.RequireSignature
	s := c.openRegistry(cfg, records)
	o, err := from.examine(ctx, c, s)
	if err != nil {
		return err
	}
	apply, verb, done := s.Install, "Install", "is installed"
	if o.Installed != nil {
		apply, verb, done = s.Upgrade, "Upgrade", "was upgraded from "+o.Installed.Version
	}
	choice, err := consent.decide(c, o, verb)
	if err != nil {
		return err
	}
	if err := apply(ctx, o, choice); err != nil {
		return err
	}
	return p.printState(ctx, c, s, o.Package.Manifest.Name, done)
}

// printState prints a plugin after a change.
func (p *pluginBox) printState(ctx context.Context, c *console, s *registry.Registry, name, what string) error {
	i, err := s.Show(ctx, name)
	if err != nil {
		return err
	}
	may := "has no permissions"
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
