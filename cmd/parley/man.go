package main

import (
	"io"
	"os"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/appliance"
	"parley/appliance/config"
	"parley/cmd/parley/manual"
	"parley/internal/layout"
)

// manCmd prints the manual page.
type manCmd struct {
	Markdown bool `hidden:""` // as docs/commands.md, which is made with it
}

// Help shows the command in use.
func (manCmd) Help() string {
	return `Examples:

  parley man | man -l -

  parley man > /usr/local/share/man/man1/parley.1

After the second, which wants root, man parley shows it.`
}

// Run prints the manual.
func (cmd *manCmd) Run(c *console, parsed *kong.Context) error {
	m := manual.Manual{Program: manual.Of(parsed.Model), Sections: sections()}
	text := m.Roff(built(), "Parley "+appliance.Version())
	if cmd.Markdown {
		text = m.Markdown(commandsIntro)
	}
	_, err := io.WriteString(c.out, text)
	return err
}

// built is the day on which the program was built.
func built() string {
	day := time.Now()
	if self, err := os.Executable(); err == nil {
		if info, err := os.Stat(self); err == nil {
			day = info.ModTime()
		}
	}
	return day.Format(time.DateOnly)
}

// commandsIntro is the beginning of docs/commands.md.
const commandsIntro = `# Commands

Everything that ` + "`parley`" + ` can be asked to do, as ` + "`parley help COMMAND`" +
	` says it. This page is made by ` + "`parley man --markdown`" + ` of the same words; a test compares them. ` +
	`[Completion](#parley-completion) and [the manual page](#parley-man) say how to have them in a shell and in ` +
	"`man`" + `; [configuration](configuration.md) has every setting with its file, variable and flag.`

// sections are the chapters of the manual that are about no command.
func sections() []manual.Section {
	return []manual.Section{
		{Title: "Exit status",
			Text: "SIGTERM and Ctrl-C stop parley serve as it should be stopped, and it exits with 0.",
			Entries: []manual.Option{
				{Name: "0", Help: "Done."},
				{Name: "1", Help: "Failed; one line on standard error says why, and what to do."},
				{Name: "2",
					Help: "Wrong use: a command, a flag, a value or a setting that cannot be; nothing was begun."},
				{Name: "130",
					Help: "Ended by Ctrl-C; one line says what is kept and how to go on. 143 after SIGTERM, " +
						"129 after SIGHUP."},
			}},
		{Title: "Environment", Text: "Each setting can be given as a variable. A flag is stronger, parley.yaml weaker.",
			Entries: environment()},
		{Title: "Files", Entries: []manual.Option{
			{Name: layout.DefaultData,
				Help: "What a box must not lose: the database, recordings, certificates (--data)."},
			{Name: layout.DefaultPacks, Help: "The models and libraries, which can be fetched again (--packs)."},
			{Name: config.FileName, Help: "Settings: in the working folder, else in the data folder (--config)."},
		}},
	}
}

// environment are the variables that parley reads.
func environment() []manual.Option {
	var all []manual.Option
	for _, s := range config.Settings() {
		all = append(all, manual.Option{Name: s.Env(),
			Help: "As --" + s.Flag + ": " + strings.ToLower(s.Help[:1]) + s.Help[1:]})
	}
	return append(all,
		manual.Option{Name: "PARLEY_CONFIG", Help: "As --config: the file to read settings from."},
		manual.Option{Name: "PARLEY_CACHE", Help: "Folder of everything that can be fetched again (~/.cache/parley)."},
		manual.Option{Name: "PARLEY_API_KEY", Help: "The API key of the box that is talked to."},
		manual.Option{Name: "COLUMNS",
			Help: "The width of help, and of tables on a terminal, instead of the terminal's own."})
}
