package main

import (
	"context"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance/bench"
)

type benchChatsCmd struct {
	benchFlags
	Only        []string      `placeholder:"PART,…" help:"Measure only these: transport, idle, server, embedded (all)."`
	Server      string        `placeholder:"URL" help:"Base URL of the OpenAI-compatible server of the server part (a built-in stand-in, which answers at once)."`
	ServerModel string        `placeholder:"NAME" help:"The model's name on that server."`
	Most        int           `default:"64" placeholder:"N" help:"Live conversations at most (64)."`
	Turns       int           `default:"4" placeholder:"N" help:"Turns of each conversation (4)."`
	Within      time.Duration `default:"10m" placeholder:"DURATION" help:"How long the number is looked for with each language model (10m)."`
	IdleChats   int           `default:"2000" placeholder:"N" help:"Idle text chats that are opened (2000)."`
	Idle        time.Duration `default:"10s" placeholder:"DURATION" help:"How long they are watched (10s)."`
	Recordings  string        `placeholder:"DIR" help:"What is said: sound files (Debian's asterisk-core-sounds-en-wav)."`

	Settings kong.Plugins `embed:"" settings:"packs profile engines.transcriber engines.language_model engines.voice engines.threads"`
}

// Help shows the command in use.
func (benchChatsCmd) Help() string {
	return `Examples:

  parley bench chats --json

  parley bench chats --only server --server http://10.0.0.5:8000/v1 --server-model qwen

  parley bench chats --only idle --idle-chats 5000

Boxes are started in processes and folders of their own. Recordings of people are spoken into 1, 2, 4, 8, … chats ` +
		`at once, in real time, until fewer than 95 of 100 answers come within 500 ms of the silence that ends a ` +
		`turn; then the number in between is looked for, and callers knock at a box that is full. It takes up to ` +
		`half an hour.`
}

// Run finds the numbers.
func (cmd *benchChatsCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	o, err := c.bench(parsed)
	if err != nil {
		return err
	}
	o.Only, o.Server, o.ServerModel = cmd.Only, cmd.Server, cmd.ServerModel
	o.Most, o.Turns, o.Within, o.IdleChats, o.Idle, o.Recordings = cmd.Most, cmd.Turns, cmd.Within, cmd.IdleChats,
		cmd.Idle, cmd.Recordings
	if o.Serve, err = serving(parsed, o.Config); err != nil {
		return err
	}
	return c.report(ctx, cmd.JSON, bench.Chats, o)
}
