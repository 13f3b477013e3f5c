package main

import (
	"context"

	"github.com/alecthomas/kong"

	"parley/appliance/bench"
)

type benchExpressCmd struct {
	benchFlags
	Prompts    int    `default:"150" placeholder:"N" help:"Recordings that are measured, the longest first (150)."`
	Recordings string `placeholder:"DIR" help:"What is heard: sound files, with the words of each in a .txt file of the same name (Debian's asterisk-core-sounds-en-wav, and asterisk-core-sounds-en for the words)."`

	Settings kong.Plugins `embed:"" settings:"packs profile"`
}

// Help shows the command in use.
func (benchExpressCmd) Help() string {
	return "Example:\n\n  parley bench expression --json\n\nIt needs no models but those in the program, and takes " +
		"some seconds."
}

// Run measures the feelings.
func (cmd *benchExpressCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Prompts, o.Recordings = cmd.Prompts, cmd.Recordings
	return c.report(ctx, cmd.JSON, bench.Expression, o)
}
