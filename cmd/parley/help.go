package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	kongcompletion "github.com/jotaen/kong-completion"
	"github.com/muesli/mango"
	"github.com/muesli/roff"

	"parley/appliance/config"
	"parley/internal/layout"
)

// helpCmd shows what --help shows, and the manual page.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to show, such as: keys create."`
	All     bool     `help:"Show every command."`
	Man     bool     `help:"Print the manual page, as man reads it."`
}

func (helpCmd) Help() string {
	return "Examples:\n\n  parley help keys create\n\n  parley help --all | less\n\n  parley help --man | man -l -"
}

// Run prints the help of the command, or of all.
func (cmd *helpCmd) Run(c *console, parsed *kong.Context) error {
	if cmd.Man {
		_, err := io.WriteString(c.out, manualPage(parsed.Model))
		return err
	}
	if !cmd.All {
		return helpOn(parsed.Kong, cmd.Command)
	}
	return c.helpOnAll(parsed.Kong, parsed.Model.Node)
}

// helpOnAll prints the help of what is below a command.
func (c *console) helpOnAll(k *kong.Kong, above *kong.Node) error {
	for _, n := range above.Children {
		if n.Hidden {
			continue
		}
		if n.DefaultCmd == nil { // else its help is that of the command
			_, err := fmt.Fprintf(c.out, "\n%s\n\n", strings.ToUpper(n.FullPath()))
			if err = errors.Join(err, helpOn(k, strings.Fields(n.FullPath())[1:])); err != nil {
				return err
			}
		}
		if err := c.helpOnAll(k, n); err != nil {
			return err
		}
	}
	return nil
}

// helpOn prints the help of the command that words name.
func helpOn(k *kong.Kong, words []string) error {
	traced, err := kong.Trace(k, words)
	if err != nil {
		return err
	}
	named := strings.Join(append([]string{k.Model.Name}, words...), " ")
	if n := traced.Selected(); len(words) > 0 &&
		(n == nil || n.FullPath() != named && (n.Parent.DefaultCmd != n || n.Parent.FullPath() != named)) {
		return misuse{fmt.Errorf("there is no command %.80q: parley --help lists those that are",
			strings.Join(words, " "))}
	}
	return traced.PrintUsage(false)
}

// manualPage is all commands, and what they have in common.
func manualPage(app *kong.Application) string {
	page := mangokong.NewManPage(1, app)
	examplesLast(&page.Root)
	page = page.WithSection("Exit status", exitStatus)
	page = page.WithSection("Environment", "A flag is stronger than a variable, parley.yaml weaker.\n* "+
		strings.Join(environment(), "\n* "))
	page = page.WithSection("Files", fmt.Sprintf(`* %s what a box must not lose (--data)
* %s models and libraries, which can be fetched again (--packs)
* %s settings: in the working folder, else in the data folder (--config)
`, layout.DefaultData, layout.DefaultPacks, config.FileName))
	return page.Build(roff.NewDocument()) + "\n"
}

// examplesLast puts what a command says of itself, and its examples, behind its
// flags: mango would run it into the command's name. roff takes a % for a verb.
func examplesLast(c *mango.Command) {
	for name, f := range c.Flags {
		f.Usage = strings.ReplaceAll(f.Usage, "%", "%%")
		c.Flags[name] = f
	}
	for _, sub := range c.Commands {
		sub.Usage, sub.Example = "", strings.ReplaceAll(sub.Usage, "%", "%%")
		examplesLast(sub)
	}
}

// environment are the variables that parley reads, each with what it means.
func environment() []string {
	var all []string
	for _, s := range config.Settings() {
		all = append(all, s.Env()+" as --"+s.Flag)
	}
	return append(all,
		"PARLEY_CONFIG as --config",
		"PARLEY_CACHE the folder of everything that can be fetched again (~/.cache/parley)",
		"PARLEY_API_KEY the API key of the box that is talked to",
		"COLUMNS the width of help, instead of the terminal's own")
}

const exitStatus = `* 0 done
* 1 failed; one line on standard error says why, and what to do
* 2 wrong use: a command, a flag, a value or a setting that cannot be; nothing was begun
* 130 ended by Ctrl-C; one line says what is kept and how to go on. 143 after SIGTERM, 129 after SIGHUP
`

// completionCmd prints what makes a shell complete command lines.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Examples:

  source <(parley completion bash)

  parley completion zsh >> ~/.zshrc

  parley completion fish > ~/.config/fish/completions/parley.fish

It completes commands, flags, the values that a flag may have, files, packs, plugins, voices, accounts and keys.`
}

// Run prints the script.
func (cmd *completionCmd) Run(parsed *kong.Context) error {
	return (&kongcompletion.Completion{Shell: cmd.Shell, Code: true}).Run(parsed)
}
