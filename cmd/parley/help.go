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

// helpCmd prints help, the manual page, and what lets a shell complete command lines.
type helpCmd struct {
	Command    []string `arg:"" optional:"" help:"Command to show, such as: keys create."`
	All        bool     `help:"Show every command."`
	Man        bool     `help:"Print the manual page in the format of man."`
	Completion string   `enum:"bash,zsh,fish," default:"" placeholder:"SHELL" help:"${completion}"`
}

const completionHelp = "Print a script that completes command lines in bash, zsh or fish."

func (helpCmd) Help() string {
	return `Examples:

  parley help keys create

  parley help --all | less

  parley help --man | man -l -

  source <(parley help --completion bash)

  parley help --completion zsh >> ~/.zshrc

  parley help --completion fish > ~/.config/fish/completions/parley.fish

The scripts complete commands, flags, their values, files, packs, plugins, voices, accounts and keys.`
}

// Run prints the help of a command, or of all.
func (cmd *helpCmd) Run(c *console, parsed *kong.Context) error {
	if cmd.Man {
		_, err := io.WriteString(c.out, manualPage(parsed.Model))
		return err
	}
	if cmd.Completion != "" {
		return (&kongcompletion.Completion{Shell: cmd.Completion, Code: true}).Run(parsed)
	}
	if !cmd.All {
		return helpOn(parsed.Kong, cmd.Command)
	}
	return c.helpOnAll(parsed.Kong, parsed.Model.Node)
}

// helpOnAll prints the help of the commands below a command.
func (c *console) helpOnAll(k *kong.Kong, above *kong.Node) error {
	for _, n := range above.Children {
		if n.Hidden {
			continue
		}
		if n.DefaultCmd == nil { // a default command has the help of its parent
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
		return misuse{fmt.Errorf("there is no command %.80q: parley --help lists the commands",
			strings.Join(words, " "))}
	}
	return traced.PrintUsage(false)
}

// manualPage returns the manual page of all commands.
func manualPage(app *kong.Application) string {
	page := mangokong.NewManPage(1, app)
	examplesLast(&page.Root)
	page = page.WithSection("Exit status", exitStatus)
	page = page.WithSection("Environment", "Flags override variables, and variables override parley.yaml.\n* "+
		strings.Join(environment(), "\n* "))
	page = page.WithSection("Files", fmt.Sprintf(`* %s the data of the box (--data)
* %s models and libraries, which can be fetched again (--packs)
* %s settings: in the working folder, else in the data folder, else in %s (--config)
* %s and %s the data and the models of a box that the Debian package installed
`, layout.DefaultData, layout.DefaultPacks, config.FileName, layout.SystemSettings, layout.SystemData,
		layout.SystemPacks))
	return page.Build(roff.NewDocument()) + "\n"
}

// examplesLast moves the description and examples of a command behind its flags; mango
// would append them to the command's name. It also escapes %, since roff formats the
// text.
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

// environment describes the variables that parley reads.
func environment() []string {
	var all []string
	for _, s := range config.Settings() {
		if !s.FileOnly() {
			all = append(all, s.Env()+" as --"+s.Flag)
		}
	}
	return append(all,
		"PARLEY_CONFIG as --config",
		"PARLEY_CACHE folder for all that can be fetched again (~/.cache/parley)",
		"PARLEY_API_KEY API key of the box for parley talk",
		"COLUMNS width of help texts (the terminal's width)")
}

const exitStatus = `* 0 success
* 1 failure; one line on standard error says why, and what to do
* 2 usage error: an invalid command, flag, value or setting; nothing was done
* 130 ended by Ctrl-C; one line says what is left of the work and how to go on. 143 after SIGTERM, 129 after SIGHUP
`
