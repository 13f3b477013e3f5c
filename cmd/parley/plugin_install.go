package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/plugins"
	"parley/plugins/shelf"
)

type pluginInstallCmd struct {
	pluginBox     `embed:""`
	pluginSource  `embed:""`
	pluginConsent `embed:""`
}

// Help shows the command in use.
func (pluginInstallCmd) Help() string {
	return `Examples:

  parley plugin install opening-hours.wasm

  parley plugin install weather.wasm --grant http:api.example.org --set city=Ulm

  parley plugin install ./layout --tag 1.2.0 --yes --data /var/lib/parley

It shows what the plugin asks for, in words, and asks. A box that runs has the tools from the next turn on. A value ` +
		`in --grant changes what is granted: files:/menu=/home/shop/menu shows it that folder as /menu, ` +
		`http:192.168.1.20:8080=GET+POST lets it talk to a server of yours.

A signature is read from opening-hours.wasm.sig beside it. From an OCI layout, as registries' tools make it: one ` +
		`layer is the module (application/wasm), and one titled like it with .sig behind its signature.`
}

// Run installs the plugin.
func (cmd *pluginInstallCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	return cmd.bring(ctx, c, parsed, cmd.pluginSource, cmd.pluginConsent, "Install",
		func(s *shelf.Shelf, o shelf.Offer) (fits bool, what string, do bringing) {
			return o.Installed == nil, "is installed", s.Install
		})
}

type pluginUpgradeCmd struct {
	pluginBox     `embed:""`
	pluginSource  `embed:""`
	pluginConsent `embed:""`
	OtherSigner   bool `help:"Take it also where it is signed by somebody else than what is installed, or no longer."`
}

// Help shows the command in use.
func (pluginUpgradeCmd) Help() string {
	return `Examples:

  parley plugin upgrade opening-hours-1.3.0.wasm

  parley plugin upgrade weather.wasm --grant none

It shows what is newly asked for, and asks. The new version first runs the cases that came along in it ` +
		`(tests/*.json of its author); where it fails them, or cannot be loaded, the old one stays as it is. What the plugin was ` +
		`told and keeps stays, and what it may do, as far as the new version asks for it. A box that runs has the ` +
		`new version from its next call on; calls on their way end with the old one.`
}

// Run upgrades the plugin.
func (cmd *pluginUpgradeCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	return cmd.bring(ctx, c, parsed, cmd.pluginSource, cmd.pluginConsent, "Upgrade",
		func(s *shelf.Shelf, o shelf.Offer) (fits bool, what string, do bringing) {
			upgrade := func(ctx context.Context, o shelf.Offer, choice shelf.Choice) error {
				choice.OtherSigner = cmd.OtherSigner
				return s.Upgrade(ctx, o, choice)
			}
			if o.Installed == nil {
				return false, "", upgrade
			}
			return true, "was upgraded from " + o.Installed.Version, upgrade
		})
}

// bringing puts what was offered onto the shelf.
type bringing = func(context.Context, shelf.Offer, shelf.Choice) error

// bring brings a plugin to the box, with the consent of who installs it. how says
// whether the offer fits the command at all, what will have happened, and by what;
// where it does not fit nobody is asked, and the shelf says why not.
func (p *pluginBox) bring(ctx context.Context, c *console, parsed *kong.Context, from pluginSource,
	consent pluginConsent, verb string,
	how func(*shelf.Shelf, shelf.Offer) (fits bool, what string, do bringing)) error {
	return p.openTrusting(ctx, c, parsed, consent.RequireSignature, func(s *shelf.Shelf) error {
		o, err := from.examine(ctx, c, s)
		if err != nil {
			return err
		}
		fits, what, do := how(s, o)
		if !fits {
			return do(ctx, o, shelf.Choice{})
		}
		choice, err := consent.decide(c, o, verb)
		if err != nil {
			return err
		}
		if err := do(ctx, o, choice); err != nil {
			return err
		}
		return p.done(ctx, c, s, o.Package.Manifest.Name, what)
	})
}

type pluginRemoveCmd struct {
	pluginBox `embed:""`

	Name string `arg:"" help:"The plugin's name, from parley plugin list."`
	Yes  bool   `short:"y" help:"Ask nothing."`
}

// Help shows the command in use.
func (pluginRemoveCmd) Help() string {
	return "Example:\n\n  parley plugin remove weather --yes\n\nIts settings, what it keeps and its log go with it. " +
		"Configs that have its tools have one tool less from the next turn on."
}

// Run removes the plugin.
func (cmd *pluginRemoveCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p := &cmd.pluginBox
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		i, err := s.Show(ctx, cmd.Name)
		if err != nil {
			return err
		}
		if !cmd.Yes {
			question := fmt.Sprintf("Remove %s %s, with its settings and the %d bytes that it keeps?", i.Name,
				i.Version, i.Keeps)
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
		if p.JSON {
			return c.json(map[string]string{"name": i.Name, "state": "removed"})
		}
		_, err = fmt.Fprintf(c.out, "%s %s is removed\n", i.Name, i.Version)
		return err
	})
}

// change changes a plugin that is installed, and says what it is then.
func (p *pluginBox) change(ctx context.Context, c *console, parsed *kong.Context, name, what string,
	do func(*shelf.Shelf) error) error {
	return p.open(ctx, c, parsed, func(s *shelf.Shelf) error {
		if err := do(s); err != nil {
			return err
		}
		return p.done(ctx, c, s, name, what)
	})
}

// done says what a plugin is after it was changed.
func (p *pluginBox) done(ctx context.Context, c *console, s *shelf.Shelf, name, what string) error {
	i, err := s.Show(ctx, name)
	if err != nil {
		return err
	}
	if p.JSON {
		return c.json(plugins.Record(i))
	}
	if _, err := fmt.Fprintf(c.out, "%s %s %s; it %s\n", i.Name, i.Version, what, mayWords(i)); err != nil {
		return err
	}
	if i.Why != "" {
		_, err = fmt.Fprintf(c.out, "It is %s: %s\n", i.State, i.Why)
	}
	return err
}

// mayWords are what a plugin may do, as the end of a sentence.
func mayWords(i shelf.Info) string {
	if len(i.Granted) == 0 {
		return "may do nothing but answer"
	}
	var words []string
	for _, g := range i.Granted {
		words = append(words, g.Words)
	}
	return strings.Join(words, "; ")
}
