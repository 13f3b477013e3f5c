package main

import (
	"context"
	"fmt"
	"os"

	"parley/plugins/author"
)

type pluginBuildCmd struct {
	Folder string `arg:"" optional:"" default:"." help:"Folder of the plugin."`
	Wasm   string `placeholder:"FILE" help:"Module that was built already, with whatever tools: only put the manifest into it."`
}

// Help shows the command in use.
func (pluginBuildCmd) Help() string {
	return `Examples:

  parley plugin build

  zig build-exe tool.zig -target wasm32-wasi && parley plugin build --wasm tool.wasm

It runs the tools of the language, whose commands it shows, and puts plugin.yaml and tests/*.json into the module ` +
		`as its sections parley.manifest and parley.tests, so that the one file is the whole plugin. Where a tool is missing it says what to install.`
}

// Run builds the plugin.
func (cmd *pluginBuildCmd) Run(ctx context.Context, c *console) error {
	p, err := author.Open(cmd.Folder)
	if err != nil {
		return fmt.Errorf("plugin build: %w", err)
	}
	if cmd.Wasm != "" {
		err = author.Pack(p, cmd.Wasm)
	} else {
		err = author.Build(ctx, p, c.err)
	}
	if err != nil {
		return fmt.Errorf("plugin build: %w", err)
	}
	info, err := os.Stat(p.Wasm())
	if err != nil {
		return fmt.Errorf("plugin build: %w", err)
	}
	_, err = fmt.Fprintf(c.out, "%s, %d KB: %s %s\n", p.Wasm(), (info.Size()+999)/1000, p.Manifest.Name,
		p.Manifest.Version)
	return err
}
