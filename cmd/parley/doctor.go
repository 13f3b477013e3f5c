package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/cmd/parley/terminal"
	"parley/internal/progress"
)

// doctorCmd looks for what is wrong with a box.
type doctorCmd struct {
	JSON bool `name:"json" help:"Print JSON."`

	Settings kong.Plugins `embed:"" settings:"data listen kiosk.enabled kiosk.devices kiosk.config_id kiosk.account kiosk.start kiosk.phrase kiosk.button packs profile engines.transcriber engines.language_model engines.voice limits.recordings"`
}

// Help shows the command in use.
func (doctorCmd) Help() string {
	return `Examples:

  parley doctor --data /var/lib/parley

  parley doctor --json | jq '.findings[] | select(.health != "ok")'

It changes nothing, and may be asked while the box runs. Exits with 1 when there is a problem; a warning is none.`
}

// Run examines the box and prints what it found.
func (cmd *doctorCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cfg, err := c.config(parsed)
	if err != nil {
		return err
	}
	c.endsAtOnce(interrupted{kept: "the box is as it was"})
	var d appliance.Diagnosis
	err = withBars(ctx, c.err, func(p progress.Func) error {
		d, err = appliance.Diagnose(ctx, cfg, p)
		return err
	})
	if err != nil {
		return brokenOff(ctx, fmt.Errorf("doctor: %w", err), "the box is as it was", "")
	}
	if cmd.JSON {
		err = c.json(d)
	} else {
		err = printDiagnosis(c, d)
	}
	if !d.Healthy {
		err = errors.Join(err, errors.New("doctor: something is wrong with the box: see above"))
	}
	return err
}

func printDiagnosis(c *console, d appliance.Diagnosis) error {
	t := &terminal.Table{}
	for _, f := range d.Findings {
		t.Add(string(f.Health), f.Part, f.What)
		if f.Mend != "" {
			t.Add("", "", "→ "+f.Mend)
		}
	}
	return c.table(t)
}
