// Command parley turns a machine into a voice service, and talks to one.
package main

import (
	"context"
	"os"

	"parley/appliance/engine/onnx"
)

// commandLine is everything that parley can be asked to do.
type commandLine struct {
	Serve   serveCmd   `cmd:"" help:"Run the box."`
	Talk    talkCmd    `cmd:"" help:"Talk to a box from this terminal."`
	Say     sayCmd     `cmd:"" help:"Speak a text, without a box."`
	Hear    hearCmd    `cmd:"" help:"Write down what is said in a recording, without a box."`
	Keys    keysCmd    `cmd:"" help:"Make, list and revoke the keys of a box."`
	Packs   packsCmd   `cmd:"" help:"Fetch, check and carry the models that a box runs on."`
	Bench   benchCmd   `cmd:"" help:"Measure how well this machine listens, thinks, speaks and converses."`
	Backup  backupCmd  `cmd:"" help:"Save all that a box must not lose into one file, while it runs."`
	Restore restoreCmd `cmd:"" help:"Bring a box back from such a file."`
	Doctor  doctorCmd  `cmd:"" help:"Look for what is wrong with a box, and say what mends it."`
	Version versionCmd `cmd:"" help:"Say which version this is."`
}

func main() {
	onnx.BeEspeak()
	os.Exit(run(untilSignalled(context.Background()), os.Args[1:], standardConsole()))
}
