package main

import (
	"context"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/bench"
)

type benchEchoCmd struct {
	benchFlags
	Prompts    int           `default:"40" placeholder:"N" help:"Recordings whose words are counted, in each of four scenes (40)."`
	Voices     []string      `placeholder:"NAME,…" help:"Voices that are played (all that are packs of their own)."`
	Drift      time.Duration `default:"30m" placeholder:"DURATION" help:"How long the clocks of both devices differ, 1m to 2h (30m)."`
	Recordings string        `placeholder:"DIR" help:"What is said: sound files, with the words of each in a .txt file of the same name (Debian's asterisk-core-sounds-en-wav, and asterisk-core-sounds-en for the words)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchEchoCmd) Help() string {
	return `Examples:

  parley bench echo --json

  parley bench echo --drift 2m --prompts 20

The box's voices are played in simulated rooms, late, bent by a small loudspeaker and over noise, and come back to ` +
		`a simulated microphone. Found are by how many dB its own voice is softer after 1, 3 and 10 s, and where the ` +
		`clocks of both devices differ by 300 ppm; how many words of people the transcriber gets wrong with and ` +
		`without cleaning, alone, in noise, from far away and over the speaking box; the delay; and what it costs. ` +
		`No device is used. It takes about five minutes.`
}

// Run measures it.
func (cmd *benchEchoCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Prompts, o.Voices, o.Drift, o.Recordings = cmd.Prompts, cmd.Voices, cmd.Drift, cmd.Recordings
	return c.report(ctx, cmd.JSON, bench.Echo, o)
}
