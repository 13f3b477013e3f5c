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

// pluginCmd is parley plugin: tools of one's own, for those who write them and
// for those who install them.
type pluginCmd struct {
	Install pluginInstallCmd `cmd:"" help:"Install a plugin, or a newer version, and say what it may do."`
	List    pluginListCmd    `cmd:"" help:"List the plugins and how they are; or all of one, or its log."`
	Set     pluginSetCmd     `cmd:"" help:"Tell a plugin its settings, or let it do more or less."`
	Remove  pluginRemoveCmd  `cmd:"" help:"Remove a plugin with all that it keeps."`
	Call    pluginCallCmd    `cmd:"" help:"Call a tool of a plugin, as the box would."`

	New   pluginNewCmd   `cmd:"" help:"Begin a plugin: a small project that builds and has a test."`
	Build pluginBuildCmd `cmd:"" help:"Compile a plugin into one file, whenever it changes if you like."`
	Test  pluginTestCmd  `cmd:"" help:"Run a plugin's test cases, as the box would run it."`
	Sign  pluginSignCmd  `cmd:"" help:"Sign a plugin, so that others can know whose it is."`
}

// pluginBox is what the commands have in common that look after the plugins of a
// box, while it runs or not.
type pluginBox struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data plugin_signatures.keys"`
}

// shelf opens the plugins of the box, beside the box if it runs, until the
// command is over.
func (c *console) shelf(cfg config.Config, records *store.Store) *registry.Registry {
	s := plugins.OpenRegistry(cfg, records, c.quietLogger(cfg.Log))
	c.closers = append(c.closers, s.Close)
	return s
}

// pluginSource is where a plugin comes from.
type pluginSource struct {
	From string `arg:"" type:"path" predictor:"file" help:"A .wasm of parley plugin build, or OCI layout."`
	Tag  string `help:"Of an OCI layout that holds several images, the tag of the one that is meant."`
}

// pluginConsent is how its installer agrees to what it may do.
type pluginConsent struct {
	Yes              bool     `short:"y" help:"Allow all that it asks for, and ask nothing."`
	Grant            []string `placeholder:"WHAT" help:"Allow only this, and ask nothing. May be repeated."`
	Set              []string `placeholder:"KEY=VALUE" help:"Tell it a setting at once. May be repeated."`
	RequireSignature bool     `help:"Refuse it unless it is signed by a key that the box trusts."`
	OtherSigner      bool     `help:"Upgrade also where it is signed by somebody else than before, or no longer."`
}

// examine reads a plugin and looks whether it fits; offer is what there is to
// decide.
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

// decide shows what a plugin asks for, and makes of the flags or of the answer
// what it is granted.
func (consent pluginConsent) decide(c *console, o registry.Offer, verb string) (registry.Choice, error) {
	choice := registry.Choice{Grant: consent.Grant, OtherSigner: consent.OtherSigner}
	var err error
	if choice.Settings, err = settingValues(consent.Set); err != nil {
		return choice, err
	}
	fmt.Fprint(c.err, describeOffer(o))
	switch {
	case consent.Yes && len(consent.Grant) > 0:
		return choice, misuse{errors.New("--yes allows everything, and --grant only some of it: give one of them")}
	case len(consent.Grant) > 0 || len(o.Asks) == 0:
		return choice, nil
	case !consent.Yes:
		yes, err := c.confirm(verb+" it and allow this?", "--yes to allow all of it, or --grant for a part")
		if err != nil {
			return choice, err
		}
		if !yes {
			return choice,
				errors.New("nothing was changed: it was not allowed what it asks for (--grant allows a part)")
		}
	}
	choice.Grant = o.Names()
	return choice, nil
}

// describeOffer says in words who it is and what it asks for.
func describeOffer(o registry.Offer) string {
	var b strings.Builder
	m := o.Package.Manifest
	fmt.Fprintf(&b, "%s %s: %s\n", m.Name, m.Version, m.Description)
	if o.Installed != nil {
		fmt.Fprintf(&b, "  takes the place of version %s\n", o.Installed.Version)
	}
	if o.OtherSigner != "" {
		fmt.Fprintf(&b, "  %s\n", o.OtherSigner)
	} else {
		fmt.Fprintf(&b, "  %s\n", o.Signed)
	}
	switch {
	case len(o.Asks) > 0 && o.Installed != nil:
		b.WriteString("It newly asks for:\n")
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

// settingValues reads KEY=VALUE.
func settingValues(words []string) (map[string]*string, error) {
	values := map[string]*string{}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, misuse{fmt.Errorf("%.80q is not KEY=VALUE", word)}
		}
		values[key] = &value
	}
	return values, nil
}

// confirm asks a question with yes or no. Where nobody sits at a terminal it is
// wrong use, and instead says what to give in place of an answer.
func (c *console) confirm(question, instead string) (bool, error) {
	if !onTerminal(c.in) {
		return false, misuse{fmt.Errorf("nobody can be asked, since the input is no terminal: give %s", instead)}
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.in).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(c.err)
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
