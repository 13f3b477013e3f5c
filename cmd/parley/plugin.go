package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/appliance/plugins"
	"parley/plugins/registry"
	"parley/store"
)

// pluginCmd is parley plugin, for authors and operators of plugins.
type pluginCmd struct {
	Install pluginInstallCmd `cmd:"" help:"Install or upgrade a plugin, and grant its permissions."`
	List    pluginListCmd    `cmd:"" help:"List the plugins and their state; show one, or its log."`
	Set     pluginSetCmd     `cmd:"" help:"Change the settings or the permissions of a plugin, or remove it."`
	Call    pluginCallCmd    `cmd:"" help:"Call a tool of a plugin, as the box would."`

	New   pluginNewCmd   `cmd:"" help:"Create a plugin project that builds and has a test."`
	Build pluginBuildCmd `cmd:"" help:"Compile a plugin into one file, once or after every change."`
	Test  pluginTestCmd  `cmd:"" help:"Run a plugin's test cases, as the box would run it."`
	Sign  pluginSignCmd  `cmd:"" help:"Sign a plugin, so that others can verify its author."`
}

// pluginBox has the flags of the commands for the plugins of a box, running or not.
type pluginBox struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data plugin_signatures.keys"`
}

// openRegistry opens the plugins of the box, running or not, until the command ends.
func (c *console) openRegistry(cfg config.Config, records *store.Store) *registry.Registry {
	s := plugins.OpenRegistry(cfg, records, c.quietLogger(cfg.Log))
	c.closers = append(c.closers, s.Close)
	return s
}

// pluginSource is where to find a plugin.
type pluginSource struct {
	From string `arg:"" type:"path" predictor:"file" help:"File of parley plugin build, or OCI layout."`
	Tag  string `help:"Tag of the image in an OCI layout that has several."`
}

// pluginConsent has the flags by which the installer grants permissions.
type pluginConsent struct {
	Yes              bool     `short:"y" help:"Ask nothing, and allow all that it asks for."`
	Grant            []string `placeholder:"WHAT" help:"Ask nothing, and allow only this. May be repeated."`
	Set              []string `placeholder:"KEY=VALUE" help:"Set a setting. May be repeated."`
	RequireSignature bool     `help:"Refuse it unless a key that the box trusts signed it."`
	OtherSigner      bool     `help:"Also upgrade if the signer changed, or it is no longer signed."`
}

// examine reads a plugin and checks whether it can be installed; offer has what is to be
// decided.
func (from pluginSource) examine(ctx context.Context, c *console, s *registry.Registry) (registry.Offer, error) {
	p, err := registry.Read(from.From, from.Tag)
	if err != nil {
		return registry.Offer{}, err
	}
	if onTerminal(c.err) {
		fmt.Fprintf(c.err, "Checking %s %s …\n", p.Manifest.Name, p.Manifest.Version)
	}
	o, err := s.Examine(ctx, p)
	if unfit, ok := errors.AsType[registry.ErrUnusable](err); ok {
		err = fmt.Errorf("%s: %w", from.From, unfit)
	}
	return o, err
}

// decide shows what a plugin asks for, and returns what the flags or the installer's
// answer grant.
func (consent pluginConsent) decide(c *console, o registry.Offer, verb string) (registry.Choice, error) {
	choice := registry.Choice{Grant: consent.Grant, OtherSigner: consent.OtherSigner}
	var err error
	if choice.Settings, err = settingValues(consent.Set); err != nil {
		return choice, err
	}
	fmt.Fprint(c.err, describeOffer(o))
	switch {
	case consent.Yes && len(consent.Grant) > 0:
		return choice, misuse{errors.New("--yes and --grant exclude each other: allow everything, or a part")}
	case len(consent.Grant) > 0 || len(o.Asks) == 0:
		return choice, nil
	case !consent.Yes:
		yes, err := c.confirm(verb+" it and allow this?", "--yes to allow all of it, or --grant for a part")
		if err != nil {
			return choice, err
		}
		if !yes {
			return choice,
				errors.New("nothing was changed: the permissions were not granted (--grant allows a part)")
		}
	}
	choice.Grant = o.Names()
	return choice, nil
}

// describeOffer describes the plugin and what it asks for.
func describeOffer(o registry.Offer) string {
	var b strings.Builder
	m := o.Package.Manifest
	fmt.Fprintf(&b, "%s %s: %s\n", m.Name, m.Version, m.Description)
	if o.Installed != nil {
		fmt.Fprintf(&b, "  replaces version %s\n", o.Installed.Version)
	}
	if o.OtherSigner != "" {
		fmt.Fprintf(&b, "  %s\n", o.OtherSigner)
	} else {
		fmt.Fprintf(&b, "  %s\n", o.Signed)
	}
	switch {
	case len(o.Asks) > 0 && o.Installed != nil:
		b.WriteString("New permissions that it asks for:\n")
	case len(o.Asks) > 0:
		b.WriteString("It asks for:\n")
	case o.Installed != nil:
		b.WriteString("It asks for nothing new.\n")
	default:
		b.WriteString("It asks for nothing: no network, no files, nothing of the conversation.\n")
	}
	for _, a := range o.Asks {
		fmt.Fprintf(&b, "  %s  (%s)\n", a.Words, a.Name)
	}
	for _, words := range o.Forbidden() {
		fmt.Fprintf(&b, "  %s\n", words)
	}
	return b.String()
}

// settingValues parses KEY=VALUE.
func settingValues(words []string) (map[string]*string, error) {
	values := map[string]*string{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, misuse{fmt.Errorf("%.80q is not of the form KEY=VALUE", word)}
		}
		values[key] = &value
	}
	return values, nil
}

// confirm asks a question with yes or no. Without a terminal it is a usage error that
// names the flag to pass instead.
func (c *console) confirm(question, instead string) (bool, error) {
	if !onTerminal(c.in) {
		return false, misuse{fmt.Errorf("there is no terminal to ask on: pass %s", instead)}
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(c.err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
