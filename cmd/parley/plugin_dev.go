package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"parley/plugins/author"
	"parley/plugins/shelf"
)

type pluginDevCmd struct {
	pluginBox     `embed:""`
	pluginConsent `embed:""`

	Folder string `arg:"" optional:"" default:"." help:"Folder of the plugin." type:"path"`
	NoBox  bool   `help:"Only build and test: bring it to no box."`
}

// Help shows the command in use.
func (pluginDevCmd) Help() string {
	return `Examples:

  parley plugin dev

  parley plugin dev ./opening-hours --data /var/lib/parley --yes

Whenever a file of the folder changes, it builds and tests the plugin and, where all cases pass, puts it into the ` +
		`box in the place of the one before: a running chat calls the new one in its next turn. What the plugin ` +
		`newly asks for is shown and asked, as by plugin upgrade. Ctrl-C ends it; the plugin stays.`
}

// Run watches the folder until it is interrupted.
func (cmd *pluginDevCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	p, err := author.Open(cmd.Folder)
	if err != nil {
		return fmt.Errorf("plugin dev: %w", err)
	}
	err = author.Watch(ctx, p, func(ctx context.Context, file string) {
		if file != "" {
			fmt.Fprintf(c.out, "\n%s has changed.\n", file)
		}
		if err := cmd.round(ctx, c, parsed); err != nil && ctx.Err() == nil {
			c.complain(err.Error())
		}
		if ctx.Err() == nil {
			fmt.Fprintln(c.out, "Waiting for a change. Ctrl-C ends this.")
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("plugin dev: %w", err)
	}
	return err
}

// round builds, tests and brings to the box what there is now.
func (cmd *pluginDevCmd) round(ctx context.Context, c *console, parsed *kong.Context) error {
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
	return cmd.openTrusting(ctx, c, parsed, cmd.RequireSignature, func(s *shelf.Shelf) error {
		o, err := pluginSource{From: p.Wasm()}.examine(ctx, c, s)
		if err != nil {
			return err
		}
		place, verb, done := s.Install, "Install", "is in the box"
		if o.Installed != nil {
			place, verb, done = s.Upgrade, "Upgrade", "is in the box in the place of the one before"
		}
		choice := shelf.Choice{OtherSigner: true} // an author's own box
		if o.Installed == nil || len(o.Asks) > 0 {
			if choice, err = cmd.decide(c, o, verb); err != nil {
				return err
			}
			choice.OtherSigner = true
		}
		if err := place(ctx, o, choice); err != nil {
			return err
		}
		return cmd.done(ctx, c, s, p.Manifest.Name, done)
	})
}
