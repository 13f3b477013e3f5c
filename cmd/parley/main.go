// Command parley turns a machine into a voice service, and talks to one.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
	"parley/firmware/packs"
)

// commandLine holds all commands and flags of parley.
type commandLine struct {
	Version versionFlag `short:"v" help:"Print the version."`

	Setup    setupCmd    `cmd:"" group:"Run a box:" help:"Set a box up: questions, models, service, first link."`
	Serve    serveCmd    `cmd:"" group:"Run a box:" help:"Run the box."`
	Hub      hubCmd      `cmd:"" group:"Run a box:" help:"Run the hub of several boxes; list boxes, roll changes out."`
	Keys     keysCmd     `cmd:"" group:"Run a box:" help:"Create, list and revoke the keys of a box."`
	Kiosk    kioskCmd    `cmd:"" group:"Run a box:" help:"Create a code that pairs a screen with a box."`
	Console  consoleCmd  `cmd:"" group:"Run a box:" help:"Print a link to the console of a box; sign browsers out."`
	Answers  answersCmd  `cmd:"" group:"Run a box:" help:"Read in, try and report what a box may say word for word."`
	Webhooks webhooksCmd `cmd:"" group:"Run a box:" help:"List and retry the webhooks of a box; test a receiver."`
	Plugin   pluginCmd   `cmd:"" group:"Run a box:" help:"Build and install tools of your own, as sandboxed WASM."`
	Packs    packsCmd    `cmd:"" group:"Run a box:" help:"Fetch, check and transfer the models that a box needs."`
	Config   configCmd   `cmd:"" group:"Run a box:" help:"Show the settings of a box, and write a parley.yaml."`
	Doctor   doctorCmd   `cmd:"" group:"Run a box:" help:"Check a box for problems, and say how to fix them."`
	Backup   backupCmd   `cmd:"" group:"Run a box:" help:"Back up all data of a box into one file."`
	Update   updateCmd   `cmd:"" group:"Run a box:" help:"Update the installed Parley from a file."`
	Bundle   bundleCmd   `cmd:"" group:"Run a box:" help:"Write a file that installs a box without a network."`
	Restore  restoreCmd  `cmd:"" group:"Run a box:" help:"Restore a box from a backup."`
	Import   importCmd   `cmd:"" group:"Run a box:" help:"Import what was saved of the old service."`

	Talk   talkCmd   `cmd:"" group:"Talk and listen:" help:"Talk to a box from this terminal."`
	Say    sayCmd    `cmd:"" group:"Talk and listen:" help:"Speak a text, with or without a box."`
	Voices voicesCmd `cmd:"" group:"Talk and listen:" help:"List, design, save and delete voices."`
	Hear   hearCmd   `cmd:"" group:"Talk and listen:" help:"Transcribe a recording, without a box."`
	Call   callCmd   `cmd:"" group:"Talk and listen:" help:"Call a number, and show what is said."`
	Batch  batchCmd  `cmd:"" group:"Talk and listen:" help:"Score the expression in faces, voices and texts."`

	ShowVersion versionCmd `cmd:"" name:"version" group:"Learn:" help:"Print the version and the licences."`
	HelpOn      helpCmd    `cmd:"" name:"help" hidden:"" help:"Show the help of commands, and the manual page."`
}

// Help is the help for all commands.
func (commandLine) Help() string {
	return `Conversations stay on the box.

First steps:

  parley serve            run a box
  parley talk             talk to it
  parley help --all       help on every command; --man: the manual page,
                          --completion SHELL: complete command lines

Flags override PARLEY_… variables, and those override parley.yaml.

Exit codes: 0 success, 1 failure, 2 usage error, 130 ended by Ctrl-C.`
}

// newParser returns the parser of the command line.
func newParser(options ...kong.Option) (*kong.Kong, error) {
	return kong.New(withSettings(&commandLine{}), append(options,
		kong.Name("parley"),
		kong.Description("A voice service on one machine, with its own models."),
		kong.Vars{
			"languages":    "go, rust, assemblyscript or c",
			"service_help": "Without systemd: program that starts and stops the box (start, stop, status).",
			"profiles":     listOf(packs.Profiles()),
			"voice_sample": sample,
			"batch_models": batchModels,
			"units":        units,
			"granularity":  granularity,
			"completion":   completionHelp,
			"asked":        "box", // what --url and --key of a command are for
		})...)
}

// listOf formats a list as "a, b or c".
func listOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func main() {
	log.SetOutput(io.Discard) // of libraries: the decoder of FLAC prints a line for each frame of a rare rate
	espeak.Main()
	audio.Main()
	media.Main()
	os.Exit(run(untilSignalled(context.Background()), os.Args[1:], standardConsole()))
}
