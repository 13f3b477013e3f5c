package main

import (
	"context"
	"errors"
	"fmt"

	"parley/plugins/author"
)

// pluginTestCmd is parley plugin test; a file of Go that ended in _test would be
// no part of the program.
type pluginTestCmd struct {
	Folder string `arg:"" optional:"" default:"." help:"Folder of the plugin."`
	JSON   bool   `name:"json" help:"Print JSON: passed, failed, cases."`
}

func (pluginTestCmd) Help() string {
	return `Example:

  parley plugin build && parley plugin test

It calls the module that was built as the box would, in the same sandbox, and compares. A case in tests/*.json has ` +
		`parameters, and what has to come: content, contains or error; and where it matters settings, files, ` +
		`recorded answers of hosts (http), what is kept (storage), the time and the caller. Nothing reaches the ` +
		`network. docs/plugins/testing.md shows each.

Exit code 1 where a case failed.`
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
			unprinted = errors.Join(unprinted, o.Tell(c.out))
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
