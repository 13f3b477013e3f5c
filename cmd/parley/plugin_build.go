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
	Wasm   string `placeholder:"FILE" predictor:"file" help:"Only put the manifest into this module."`
	Watch  bool   `help:"Build and test it whenever it changes, and bring it to the box."`
	NoBox  bool   `help:"With --watch: only build and test."`

	pluginBox     `embed:""`
	pluginConsent `embed:""`
}

func (pluginBuildCmd) Help() string {
	return `Examples:

  parley plugin build

  zig build-exe tool.zig -target wasm32-wasi && parley plugin build --wasm tool.wasm

  parley plugin build ./opening-hours --watch --data /var/lib/parley --yes

It runs the tools of the language, whose commands it shows, and puts plugin.yaml and tests/*.json into the module ` +
		`as its sections parley.manifest and parley.tests, so that the one file is the whole plugin. Where a tool is ` +
		`missing it says what to install.

With --watch, whenever a file of the folder changes, it builds and tests the plugin and, where all cases pass, ` +
		`puts it into the box in the place of the one before: a running chat calls the new one in its next turn. ` +
		`What the ` +
		`plugin newly asks for is shown and asked, as by parley plugin install, whose flags it takes. Ctrl-C ends ` +
		`it; the plugin stays.`
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

// buildAndInstall builds, tests and brings to the box what there is now.
func (cmd *pluginBuildCmd) buildAndInstall(ctx context.Context, c *console, cfg config.Config) error {
	p, err := author.Open(cmd.Folder)
	if err != nil {
		return err
	}
	if err := author.Build(ctx, p, c.err); err != nil {
		return err
	}
	report, err := author.Test(ctx, p, func(o author.Outcome) { _ = o.Tell(c.out) })
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
	} // opened and closed in each round
	records, err := box.openStore(ctx, cfg)
	if err != nil {
		return err
	}
	consent := cmd.pluginConsent
	consent.OtherSigner = true // an author's own box
	return errors.Join(cmd.install(ctx, box, cfg, records, pluginSource{From: p.Wasm()}, consent), box.close())
}
