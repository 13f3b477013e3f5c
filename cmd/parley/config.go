package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/durable"
	"parley/internal/layout"
)

// configCmd shows and writes settings.
type configCmd struct {
	Show configShowCmd `cmd:"" default:"withargs" help:"Show the effective settings, and where each was set."`
	Init configInitCmd `cmd:"" help:"Write a parley.yaml with the most useful settings."`
}

type configShowCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (configShowCmd) Help() string {
	return `Examples:

  parley config show

  parley config show --data /var/lib/parley --json | jq '.settings[] | select(.from != "default")'

It shows the settings that parley serve would use here, from parley.yaml and the PARLEY_ variables.`
}

// Run prints the settings.
func (cmd *configShowCmd) Run(c *console, cfg config.Config) error {
	if cmd.JSON {
		return c.json(box.Settings(cfg))
	}
	rows := [][]string{{"SETTING", "VALUE", "FROM"}}
	for _, s := range cfg.Effective() {
		if s.From == "" {
			s.Value = "(" + s.DefaultInWords + ")"
		}
		rows = append(rows, []string{s.Key, s.Value, s.From})
	}
	return c.table(rows...)
}

type configInitCmd struct {
	File  string `arg:"" optional:"" help:"File to write (where parley serve reads it, else in the data folder)."`
	Force bool   `help:"Overwrite an existing file."`

	Settings kong.Plugins `embed:"" settings:"data packs"`
}

func (configInitCmd) Help() string {
	return `Examples:

  parley config init

  parley config init --data /var/lib/parley

  parley config init /etc/parley.yaml && parley serve --config /etc/parley.yaml

All its lines are comments with defaults or examples, except for folders of data and packs that are not the default.
docs/configuration.md lists all settings.`
}

// Run writes the file.
func (cmd *configInitCmd) Run(c *console, cfg config.Config) error {
	path := cmp.Or(cmd.File, cfg.File)
	if path == "" {
		path = filepath.Join(cfg.Data, config.FileName)
		if err := os.MkdirAll(cfg.Data, layout.DataMode); err != nil {
			return fmt.Errorf("creating the data folder: %w", err)
		}
	}
	var data, packs string
	if cfg.Given("data") && filepath.Dir(path) != cfg.Data {
		data = cfg.Data
	}
	if cfg.Given("packs") {
		packs = cfg.Packs
	}
	if _, err := os.Lstat(path); err == nil && !cmd.Force {
		return fmt.Errorf("%s exists: pass --force to overwrite it, or name another file", path)
	}
	const mode = 0o644 // it names variables with keys, but contains no keys
	if err := durable.WriteFile(path, []byte(config.Sample(data, packs)), mode); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := durable.Inherit(path); err != nil {
		return fmt.Errorf("giving %s to the owner of its folder: %w", path, err)
	}
	_, err := fmt.Fprintf(c.out, "%s is written. To change a setting, remove the # before it.\n", path)
	return err
}
