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

// doctorCmd looks for what is wrong with a box.
type doctorCmd struct {
	Devices bool `xor:"do" help:"Only list the microphones and loudspeakers of this machine."`
	Sound   bool `xor:"do" help:"Only play chirps for seven seconds, and say what the microphone hears of them."`
	Speed   bool `xor:"do" help:"Only measure how quick this machine is and how many callers it carries."`
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

It changes nothing, and may be asked while the box runs. Exits with 1 when there is a problem; a warning is none.

kiosk.devices names them by their ids, their names, or parts of either. --sound ` +
		`says how loud and how late the microphone hears the loudspeaker, how much of that the box can take out ` +
		`again, and what to change. Stop the box's own kiosk before: two programs at one device disturb each other.

--speed starts a second box on a folder of its own, with the models of the settings, and asks it aloud: one caller, ` +
		`then 2, 4 and 8 at once until answers come late. For the machine's own figures stop the box before.`
}

// Run examines the box and prints what it found.
func (cmd *doctorCmd) Run(ctx context.Context, c *console, cfg config.Config) error {
	switch {
	case cmd.Devices:
		return cmd.devices(c)
	case cmd.Sound:
		return cmd.sound(ctx, c, cfg)
	case cmd.Speed:
		return cmd.measure(ctx, c, cfg)
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
		err = errors.Join(err, errors.New("something is wrong with the box: see above"))
	}
	return err
}

// measure prints how quick the machine is.
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

// devices lists what a box can hear and speak with.
func (cmd *doctorCmd) devices(c *console) error {
	inputs, outputs, err := soundcard.List()
	if err != nil {
		return noDevices(err)
	}
	if cmd.JSON {
		return c.json(listedDevices{inputs, outputs})
	}
	if len(inputs)+len(outputs) == 0 {
		_, err := fmt.Fprintln(c.err, "There are no microphones and no loudspeakers: plug one in, and see that this "+
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
		return fmt.Errorf("%w: install PulseAudio or PipeWire, or run this as the user whose session has it", err)
	}
	return err
}

// sound plays and listens, and says what came of it.
func (cmd *doctorCmd) sound(ctx context.Context, c *console, cfg config.Config) error {
	if !cmd.JSON {
		fmt.Fprintf(c.err, "Listening and playing for %.0f seconds: be quiet, please.\n", soundcheck.Duration.Seconds())
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
		{"noise of the place", fmt.Sprintf("%.0f dB of full scale", r.NoiseDB)},
	}
	if r.Hears {
		rows = append(rows, []string{"hears the loudspeaker",
			fmt.Sprintf("%.0f dB beside what is played, %.0f ms after it was handed over", r.EchoDB, r.DelayMS)})
		if r.Missing == "" {
			rows = append(rows, []string{"the box takes out",
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
		_, err = fmt.Fprintln(c.out, "Both go together well: nothing has to be changed.")
	}
	return err
}
