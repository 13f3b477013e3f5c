// Command parley turns a machine into a voice service, and talks to one.
package main

import (
	"context"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
	"parley/firmware/packs"
)

// commandLine is everything that parley can be asked to do.
type commandLine struct {
	Version versionFlag `short:"v" help:"Print the version."`

	Serve    serveCmd    `cmd:"" group:"Run a box:" help:"Run the box."`
	Keys     keysCmd     `cmd:"" group:"Run a box:" help:"Make, list and revoke the keys of a box."`
	Kiosk    kioskCmd    `cmd:"" group:"Run a box:" help:"Make a code with which a screen that talks is paired."`
	Console  consoleCmd  `cmd:"" group:"Run a box:" help:"Print a link to the console of a box; sign others out."`
	Webhooks webhooksCmd `cmd:"" group:"Run a box:" help:"List and retry the webhooks of a box, and try a receiver."`
	Plugin   pluginCmd   `cmd:"" group:"Run a box:" help:"Make tools of your own, as sandboxed WASM, and install them."`
	Packs    packsCmd    `cmd:"" group:"Run a box:" help:"Fetch, check and carry the models that a box runs on."`
	Config   configCmd   `cmd:"" group:"Run a box:" help:"Show the settings of a box, and write a parley.yaml."`
	Doctor   doctorCmd   `cmd:"" group:"Run a box:" help:"Look for what is wrong with a box, and say what mends it."`
	Backup   backupCmd   `cmd:"" group:"Run a box:" help:"Save all that a box must not lose into one file."`
	Restore  restoreCmd  `cmd:"" group:"Run a box:" help:"Bring a box back from such a file."`

	Talk   talkCmd   `cmd:"" group:"Talk and listen:" help:"Talk to a box from this terminal."`
	Say    sayCmd    `cmd:"" group:"Talk and listen:" help:"Speak a text, with a box or without."`
	Voices voicesCmd `cmd:"" group:"Talk and listen:" help:"List, design, save and delete voices."`
	Hear   hearCmd   `cmd:"" group:"Talk and listen:" help:"Write down what is said in a recording, without a box."`

	ShowVersion versionCmd    `cmd:"" name:"version" group:"Learn:" help:"Say which version this is."`
	HelpOn      helpCmd       `cmd:"" name:"help" hidden:"" help:"Show commands in full, and the manual page."`
	Completion  completionCmd `cmd:"" hidden:"" help:"Print what makes a shell complete command lines."`
}

// Help is what is true of all commands.
func (commandLine) Help() string {
	return `Nothing that is said leaves the box.

To begin with:

  parley serve            run a box
  parley talk             talk to it
  parley help --all       every command in full; --man: the manual page
  parley completion bash  complete what is typed; also for zsh and fish

Settings come from flags, then PARLEY_… variables, then parley.yaml.

Exit codes: 0 done, 1 failed, 2 wrong use, 130 ended by Ctrl-C.`
}

// newParser returns what reads the command line.
func newParser(options ...kong.Option) (*kong.Kong, error) {
	return kong.New(withSettings(&commandLine{}), append(options,
		kong.Name("parley"),
		kong.Description("A voice service on one machine, with models of its own."),
		kong.Vars{"profiles": listOf(packs.Profiles()), "voice_sample": sample})...)
}

// listOf is a list as people write it: "a, b or c".
func listOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func main() {
	espeak.Main()
	audio.Main()
	os.Exit(run(untilSignalled(context.Background()), os.Args[1:], standardConsole()))
}
