package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"parley/appliance/audio/soundcard"
	"parley/appliance/audio/soundcheck"
	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/progress"
)

// doctorCmd checks a box.
type doctorCmd struct {
	Devices bool `xor:"do" help:"Only list the microphones and loudspeakers of this machine."`
	Sound   bool `xor:"do" help:"Only play chirps for seven seconds, and report how the microphone hears them."`
	Speed   bool `xor:"do" help:"Only measure how fast this machine is and how many callers it can serve."`
	Ready   bool `xor:"do" help:"Only ask the running box whether a conversation can start; exit with 1 if not."`
	JSON    bool `name:"json" help:"Print JSON."`

	Kiosk    kong.Plugins `embed:"" settings:"kiosk.enabled kiosk.devices kiosk.config_id kiosk.account kiosk.start"`
	More     kong.Plugins `embed:"" settings:"kiosk.phrase kiosk.button data listen packs"`
	Engines  kong.Plugins `embed:"" settings:"profile engines.transcriber engines.language_model engines.voice"`
	Settings kong.Plugins `embed:"" settings:"limits.recordings"`
}

func (doctorCmd) Help() string {
	return `Examples:

  parley doctor --data /var/lib/parley

  parley doctor --json | jq '.findings[] | select(.health != "ok")'

  parley doctor --speed

  parley doctor --devices

  parley doctor --sound --kiosk-devices USB

It changes nothing and works while the box runs. With sudo it runs as the user of the box. It exits with 1 if there ` +
		`is a problem; warnings do not count.

The setting kiosk.devices selects devices by id or name, or a part of either. --sound measures how loud and how ` +
		`late the microphone hears the loudspeaker and how much of that the box can cancel, and suggests changes. ` +
		`Stop a box that uses the devices first: two programs would disturb each other.

--ready is for container platforms and monitors: it prints nothing if all is well.

--speed starts a second box in a temporary folder, with the models of the settings, and talks to it: one caller, ` +
		`then 2, 4 and 8 in parallel until answers come late. Stop a running box first to measure the whole ` +
		`machine.`
}

// Run checks the box and prints the findings.
func (cmd *doctorCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	if err := runAsOwner(cfg, c.environ); err != nil {
		return err
	}
	switch {
	case cmd.Devices:
		return cmd.devices(c)
	case cmd.Sound:
		return cmd.sound(ctx, c, cfg)
	case cmd.Speed:
		return cmd.measure(ctx, c, cfg)
	case cmd.Ready:
		return updatedBox{cfg, c}.Ready(ctx)
	}
	c.allowInstantExit(interrupted{state: "the box is as it was"})
	var d box.Diagnosis
	err := withBars(ctx, c.err, func(p progress.Func) (err error) {
		d, err = box.Diagnose(ctx, cfg, p)
		return err
	})
	if err != nil {
		return orInterrupted(ctx, err, "the box is as it was", "")
	}
	if cmd.JSON {
		err = c.json(d)
	} else {
		err = printDiagnosis(c, d)
	}
	if !d.Healthy {
		err = errors.Join(err, errors.New("the box has a problem: see above"))
	}
	return err
}

// measure prints how fast the machine is.
func (cmd *doctorCmd) measure(ctx context.Context, c *console, cfg config.Config) error {
	s, err := c.measureSpeed(ctx, cfg, maxCallers)
	switch {
	case ctx.Err() != nil:
		return interrupted{state: "nothing was measured"}
	case err != nil:
		return fmt.Errorf("doctor: %w", err)
	case cmd.JSON:
		return c.json(s)
	}
	return s.write(c.out)
}

func printDiagnosis(c *console, d box.Diagnosis) error {
	var rows [][]string
	for _, f := range d.Findings {
		rows = append(rows, []string{string(f.Health), f.Part, f.What})
		if f.Mend != "" {
			rows = append(rows, []string{"", "", "→ " + f.Mend})
		}
	}
	return c.table(rows...)
}

// devices lists microphones and loudspeakers.
func (cmd *doctorCmd) devices(c *console) error {
	inputs, outputs, err := soundcard.List()
	if err != nil {
		return noDevices(err)
	}
	if cmd.JSON {
		return c.json(listedDevices{inputs, outputs})
	}
	if len(inputs)+len(outputs) == 0 {
		_, err := fmt.Fprintln(c.err, "There are no microphones and no loudspeakers: connect one, and check that this "+
			"user is in the group audio.")
		return err
	}
	rows := [][]string{{"KIND", "NAME", "ID", "SYSTEM", "DEFAULT"}}
	for _, d := range append(inputs, outputs...) {
		byDefault := ""
		if d.Default {
			byDefault = "default"
		}
		rows = append(rows, []string{string(d.Kind), d.Name, d.ID, string(d.System), byDefault})
	}
	return c.table(rows...)
}

// listedDevices is what --devices prints with --json.
type listedDevices struct {
	Inputs  []soundcard.Device `json:"inputs"`
	Outputs []soundcard.Device `json:"outputs"`
}

func noDevices(err error) error {
	if errors.Is(err, soundcard.ErrNoSoundSystem) {
		return fmt.Errorf("%w: install PulseAudio or PipeWire, or run this as the user whose session runs it", err)
	}
	return err
}

// sound plays and records chirps, and prints the result.
func (cmd *doctorCmd) sound(ctx context.Context, c *console, cfg config.Config) error {
	if !cmd.JSON {
		fmt.Fprintf(c.err, "Playing and recording for %.0f seconds: please be quiet.\n", soundcheck.Duration.Seconds())
	}
	r, err := soundcheck.Run(ctx, soundcheck.Devices{Input: cfg.Kiosk.Input, Output: cfg.Kiosk.Output})
	if err != nil {
		return noDevices(err)
	}
	if cmd.JSON {
		return c.json(r)
	}
	rows := [][]string{
		{"microphone", r.Input},
		{"loudspeaker", r.Output},
		{"background noise", fmt.Sprintf("%.0f dB of full scale", r.NoiseDB)},
	}
	if r.Hears {
		rows = append(rows, []string{"hears the loudspeaker",
			fmt.Sprintf("%.0f dB relative to what is played, %.0f ms after it was handed over", r.EchoDB, r.DelayMS)})
		if r.Missing == "" {
			rows = append(rows, []string{"the box cancels",
				fmt.Sprintf("%.0f dB of that within two seconds", r.GoneDB)})
		}
	} else {
		rows = append(rows, []string{"hears the loudspeaker", "no"})
	}
	err = c.table(rows...)
	for _, line := range r.Advice {
		_, failed := fmt.Fprintln(c.out, "→ "+line)
		err = errors.Join(err, failed)
	}
	if err == nil && len(r.Advice) == 0 {
		_, err = fmt.Fprintln(c.out, "Microphone and loudspeaker work well together. Nothing needs to change.")
	}
	return err
}
