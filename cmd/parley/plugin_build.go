package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"

	"parley/appliance/config"
	"parley/plugins/author"
)

type pluginBuildCmd struct {
	Folder string `arg:"" optional:"" default:"." predictor:"dir" help:"Folder of the plugin."`
	Wasm   string `placeholder:"FILE" predictor:"file" help:"Do not compile: add the manifest to this module."`
	Watch  bool   `help:"After every change build, test and install it."`
	NoBox  bool   `help:"With --watch: build and test only."`

	pluginBox     `embed:""`
	pluginConsent `embed:""`
}

func (pluginBuildCmd) Help() string {
	return `Examples:

  parley plugin build

  zig build-exe tool.zig -target wasm32-wasi && parley plugin build --wasm tool.wasm

  parley plugin build ./opening-hours --watch --data /var/lib/parley --yes

It runs the compiler of the language, shows its commands, and adds plugin.yaml and tests/*.json to the module as ` +
		`its sections parley.manifest and parley.tests, so that the file is the whole plugin. If a tool is missing ` +
		`it says what to install.

With --watch, after every change in the folder it builds and tests the plugin and, if all cases pass, installs it ` +
		`in the box: a running chat calls the new version in its next turn. It asks for new permissions as parley ` +
		`plugin install does, and takes the same flags. Ctrl-C ends it; the plugin stays installed.`
}

// Run builds the plugin, once or until it is interrupted.
func (cmd *pluginBuildCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p, err := author.Open(cmd.Folder)
	switch {
	case err != nil:
		return err
	case cmd.Watch:
		return cmd.watch(ctx, c, parsed, p)
	case cmd.Wasm != "":
		err = author.Pack(p, cmd.Wasm)
	default:
		err = author.Build(ctx, p, c.err)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(p.Wasm())
	if err != nil {
		return err
	}
	return c.print(cmd.JSON, map[string]any{"file": p.Wasm(), "bytes": info.Size()}, "%s, %d KB: %s %s\n", p.Wasm(),
		(info.Size()+999)/1000, p.Manifest.Name, p.Manifest.Version)
}

func (cmd *pluginBuildCmd) watch(ctx context.Context, c *console, parsed *kong.Context, p author.Project) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	err = author.Watch(ctx, p, func(ctx context.Context, file string) {
		if file != "" {
			fmt.Fprintf(c.out, "\n%s has changed.\n", file)
		}
		if err := cmd.buildAndInstall(ctx, c, cfg); err != nil && ctx.Err() == nil {
			c.complain(err.Error())
		}
		if ctx.Err() == nil {
			fmt.Fprintln(c.out, "Waiting for a change. Ctrl-C ends this.")
		}
	})
	if errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

// buildAndInstall builds, tests and installs the plugin as it is now.
func (cmd *pluginBuildCmd) buildAndInstall(ctx context.Context, c *console, cfg config.Config) error {
	p, err := author.Open(cmd.Folder)
	if err != nil {
		return err
	}
	if err := author.Build(ctx, p, c.err); err != nil {
		return err
	}
	report, err := author.Test(ctx, p, func(o author.Outcome) { _ = o.Print(c.out) })
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%d passed, %d failed\n", report.Passed, report.Failed)
	if report.Failed > 0 || cmd.NoBox {
		return nil
	}
	box := &console{
		in:      c.in,
		out:     c.out,
		err:     c.err,
		environ: c.environ,
	} // its store is opened and closed in each round
	records, err := box.openStore(ctx, cfg)
	if err != nil {
		return err
	}
	consent := cmd.pluginConsent
	consent.OtherSigner = true // it is the author's box
	return errors.Join(cmd.install(ctx, box, cfg, records, pluginSource{From: p.Wasm()}, consent), box.close())
}
