package main

import (
	"context"
	"errors"
	"fmt"

	"parley/plugins/author"
)

// pluginTestCmd is parley plugin test. The file is not plugin_test.go, since go build
// leaves out such files.
type pluginTestCmd struct {
	Folder string `arg:"" optional:"" default:"." help:"Folder of the plugin."`
	JSON   bool   `name:"json" help:"Print JSON: passed, failed, cases."`
}

func (pluginTestCmd) Help() string {
	return `Example:

  parley plugin build && parley plugin test

It calls the built module in the sandbox of the box, and compares the results. A case in tests/*.json has ` +
		`parameters and the expected content, contains or error, and optionally settings, files, recorded ` +
		`responses of hosts (http), storage, the time and the caller. Nothing reaches the network. ` +
		`docs/plugins/testing.md describes the cases.

It exits with 1 if a case fails.`
}

// Run tests the plugin.
func (cmd *pluginTestCmd) Run(ctx context.Context, c *console) error {
	p, err := author.Open(cmd.Folder)
	if err != nil {
		return err
	}
	var unprinted error
	report, err := author.Test(ctx, p, func(o author.Outcome) {
		if !cmd.JSON {
			unprinted = errors.Join(unprinted, o.Print(c.out))
		}
	})
	if err = errors.Join(err, unprinted); err != nil {
		return err
	}
	err = c.print(cmd.JSON, report, "%d passed, %d failed\n", report.Passed, report.Failed)
	if err == nil && report.Failed > 0 {
		err = fmt.Errorf("%d of %d cases failed", report.Failed, len(report.Cases))
	}
	return err
}
