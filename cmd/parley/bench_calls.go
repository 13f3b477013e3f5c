package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/bench"
)

type benchCallsCmd struct {
	benchFlags
	Calls  int           `default:"20" placeholder:"N" help:"Calls at once, in which both sides speak (20)."`
	Loss   float64       `default:"0" placeholder:"PERCENT" help:"Hold one more call, over a network that loses so much both ways, and say what each side got (0)."`
	Jitter time.Duration `default:"0" placeholder:"DURATION" help:"Hold one more call, over a network in which packets come late by up to this (0)."`

	// Of the callers, which are a process of their own.
	To     string        `hidden:"" placeholder:"URL" help:"Call there, and print what was heard."`
	Long   time.Duration `hidden:"" default:"10s" help:"For so long."`
	Clicks bool          `hidden:"" help:"Click, and listen for clicks."`

	Settings kong.Plugins `embed:"" settings:""`
}

// Help shows the command in use.
func (benchCallsCmd) Help() string {
	return `Examples:

  parley bench calls --json

  parley bench calls --loss 5 --jitter 50ms

The box's side of the calls is in this process, and the callers are in another, so that the processor time is the ` +
		`box's own; both are on this machine. First clicks are timed both ways, then everybody speaks at once. It ` +
		`takes half a minute.`
}

// Run measures the calls.
func (cmd *benchCallsCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	if cmd.To != "" {
		heard, err := bench.Callers(ctx, cmd.To, bench.Dialling{
			Calls:  cmd.Calls,
			Long:   cmd.Long,
			Clicks: cmd.Clicks,
			Loss:   cmd.Loss,
			Jitter: cmd.Jitter,
		})
		if err != nil {
			return err
		}
		return json.NewEncoder(c.out).Encode(heard)
	}
	if cmd.Loss < 0 || cmd.Loss > 90 {
		return misuse{fmt.Errorf("bench calls: --loss %v: 0 to 90 percent are allowed", cmd.Loss)}
	}
	if cmd.Jitter < 0 || cmd.Jitter > time.Second {
		return misuse{fmt.Errorf("bench calls: --jitter %v: 0 to 1s are allowed", cmd.Jitter)}
	}
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Calls, o.Loss, o.Jitter = cmd.Calls, cmd.Loss, cmd.Jitter
	c.endsAtOnce(unmeasured()) // it leaves nothing behind
	return c.report(ctx, cmd.JSON, bench.Calls, o)
}
