package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/durable"
	"parley/internal/layout"
)

// configCmd is about the settings of a box.
type configCmd struct {
	Show configShowCmd `cmd:"" default:"withargs" help:"Show the settings that hold, and where each was set."`
	Init configInitCmd `cmd:"" help:"Write a parley.yaml with the settings that people change."`
}

type configShowCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (configShowCmd) Help() string {
	return `Examples:

  parley config show

  parley config show --data /var/lib/parley --json | jq '.settings[] | select(.from != "default")'

Shown is what parley serve would take here: parley.yaml and the PARLEY_ variables.`
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
	File  string `arg:"" optional:"" help:"The file (where parley serve reads it, else in the data folder)."`
	Force bool   `help:"Overwrite one that is there."`

	Settings kong.Plugins `embed:"" settings:"data"`
}

func (configInitCmd) Help() string {
	return `Examples:

  parley config init

  parley config init --data /var/lib/parley

  parley config init /etc/parley.yaml && parley serve --config /etc/parley.yaml

All its lines are commented out: each has a default, or an example. docs/configuration.md has the other settings.`
}

// Run writes the file.
func (cmd *configInitCmd) Run(c *console, cfg config.Config) error {
	path := cmd.File
	if path == "" {
		if path = cfg.File; path == "" {
			path = filepath.Join(cfg.Data, config.FileName)
			if err := os.MkdirAll(cfg.Data, layout.DataMode); err != nil {
				return fmt.Errorf("the data folder cannot be made: %w", err)
			}
		}
	}
	if _, err := os.Lstat(path); err == nil && !cmd.Force {
		return fmt.Errorf("%s is there already: pass --force to overwrite it, or name another file", path)
	}
	const mode = 0o644 // the names of variables stand in it, not the keys in them
	if err := durable.WriteFile(path, []byte(config.Sample()), mode); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	_, err := fmt.Fprintf(c.out, "%s is written: take the # before a setting away to set it.\n", path)
	return err
}
