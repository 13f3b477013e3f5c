package main

import (
	"fmt"
	"path/filepath"

	"parley/plugins/author"
)

type pluginNewCmd struct {
	Name string `arg:"" help:"Name of the plugin and its new folder: a-z, 0-9 and -."`
	Lang string `required:"" enum:"go,rust,assemblyscript,c" placeholder:"LANGUAGE" help:"${languages}."`
}

func (pluginNewCmd) Help() string {
	return `Example:

  parley plugin new opening-hours --lang go && cd opening-hours && parley plugin build && parley plugin test

Other languages that compile to WASI work too: docs/plugins/abi.md describes the interface.`
}

// Run creates the project.
func (cmd *pluginNewCmd) Run(c *console) error {
	files, err := author.New(cmd.Name, cmd.Lang)
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(c.out, f)
	}
	_, err = fmt.Fprintf(c.err, "Next: cd %s && parley plugin build && parley plugin test\n", filepath.Clean(cmd.Name))
	return err
}
