package main

import (
	"context"
	"errors"
	"fmt"

	"parley/appliance/audio/soundcard"
	"parley/appliance/audio/soundcheck"
	"parley/cmd/parley/terminal"
)

// devicesCmd lists what a box can hear and speak with.
type devicesCmd struct {
	JSON   bool   `name:"json" help:"Print JSON."`
	Test   bool   `name:"test" help:"Play chirps and a noise for seven seconds, and say what the microphone hears of them."`
	Input  string `name:"input" placeholder:"DEVICE" help:"The microphone to test (the system's default)."`
	Output string `name:"output" placeholder:"DEVICE" help:"The loudspeaker to test (the system's default)."`
}

// Help shows the command in use.
func (devicesCmd) Help() string {
	return `Examples:

  parley devices

  parley devices --json | jq -r '.inputs[] | select(.default) | .id'

  parley devices --test --input USB --output USB

kiosk.devices names them by their ids, their names, or parts of either. --test says how loud and how late ` +
		`the microphone hears the loudspeaker, how much of that the box can take out again, and what to change. Stop ` +
		`the box's own kiosk before: two programs at one device disturb each other.`
}

// listedDevices is what devices prints with --json.
type listedDevices struct {
	Inputs  []soundcard.Device `json:"inputs"`
	Outputs []soundcard.Device `json:"outputs"`
}

// Run lists them.
func (cmd devicesCmd) Run(ctx context.Context, c *console) error {
	switch {
	case cmd.Test:
		return cmd.test(ctx, c)
	case cmd.Input != "" || cmd.Output != "":
		return errors.New("devices: --input and --output say what to test: add --test")
	}
	inputs, outputs, err := soundcard.List()
	if err != nil {
		return noDevices(err)
	}
	if cmd.JSON {
		return c.json(listedDevices{inputs, outputs})
	}
	t := &terminal.Table{Head: []string{"KIND", "NAME", "ID", "SYSTEM", "DEFAULT"}}
	for _, d := range append(inputs, outputs...) {
		byDefault := ""
		if d.Default {
			byDefault = "default"
		}
		t.Add(string(d.Kind), d.Name, d.ID, string(d.System), byDefault)
	}
	if len(inputs)+len(outputs) == 0 {
		_, err := fmt.Fprintln(c.err, "There are no microphones and no loudspeakers: plug one in, and see that this "+
			"user is in the group audio.")
		return err
	}
	return c.table(t)
}

func noDevices(err error) error {
	if errors.Is(err, soundcard.ErrNone) {
		return fmt.Errorf("devices: %w: install PulseAudio or PipeWire, or run this as the user whose session has it",
			err)
	}
	return fmt.Errorf("devices: %w", err)
}

// test plays and listens, and says what came of it.
func (cmd devicesCmd) test(ctx context.Context, c *console) error {
	if !cmd.JSON {
		if _, err := fmt.Fprintf(c.err, "Listening and playing for %.0f seconds: be quiet, please.\n",
			soundcheck.Long.Seconds()); err != nil {
			return err
		}
	}
	r, err := soundcheck.Run(ctx, soundcheck.Wanted{Input: cmd.Input, Output: cmd.Output})
	if err != nil {
		return noDevices(err)
	}
	if cmd.JSON {
		return c.json(r)
	}
	t := &terminal.Table{}
	t.Add("microphone", r.Input)
	t.Add("loudspeaker", r.Output)
	t.Add("noise of the place", fmt.Sprintf("%.0f dB of full scale", r.NoiseDB))
	if r.Hears {
		t.Add("hears the loudspeaker",
			fmt.Sprintf("%.0f dB beside what is played, %.0f ms after it was handed over", r.EchoDB, r.DelayMS))
		if r.Missing == "" {
			t.Add("the box takes out", fmt.Sprintf("%.0f dB of that within two seconds", r.GoneDB))
		}
	} else {
		t.Add("hears the loudspeaker", "no")
	}
	if err := c.table(t); err != nil {
		return err
	}
	for _, line := range r.Advice {
		if _, err := fmt.Fprintln(c.out, "→ "+line); err != nil {
			return err
		}
	}
	if len(r.Advice) == 0 {
		_, err = fmt.Fprintln(c.out, "Both go together well: nothing has to be changed.")
	}
	return err
}
