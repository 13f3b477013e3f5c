package main

import (
	"cmp"
	"errors"
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
	Init  bool   `help:"Write a parley.yaml with the most useful settings."`
	File  string `arg:"" optional:"" help:"With --init: file to write (where serve reads it, else in the data folder)."`
	Force bool   `help:"With --init: overwrite an existing file."`
	JSON  bool   `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data packs"`
}

func (configCmd) Help() string {
	return `Examples:

  parley config

  parley config --data /var/lib/parley --json | jq '.settings[] | select(.from != "default")'

  parley config --init

  parley config --init /etc/parley.yaml && parley serve --config /etc/parley.yaml

It shows the settings that parley serve would use here, from parley.yaml and the PARLEY_ variables, and where each ` +
		`was set. With --init it writes a parley.yaml. All its lines are comments with defaults or examples, except ` +
		`for folders of data and packs that are not the default. docs/configuration.md lists all settings.`
}

// Validate checks the combination of flags.
func (cmd *configCmd) Validate() error {
	if !cmd.Init && (cmd.File != "" || cmd.Force) {
		return errors.New("a file and --force are for --init")
	}
	return nil
}

// Run prints the settings, or writes the file.
func (cmd *configCmd) Run(c *console, cfg config.Config) error {
	if cmd.Init {
		return cmd.write(c, cfg)
	}
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

// write writes the file.
func (cmd *configCmd) write(c *console, cfg config.Config) error {
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
