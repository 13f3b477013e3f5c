package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"parley/cmd/parley/manual"
)

// helpCmd shows what --help shows.
type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Command to show, such as: keys create."`
}

// Help shows the command in use.
func (helpCmd) Help() string { return "Example:\n\n  parley help keys create" }

// Run prints the help of the command.
func (cmd *helpCmd) Run(c *console, parsed *kong.Context) error {
	described, ok := manual.Of(parsed.Model).Find(cmd.Command...)
	if !ok {
		return misuse{fmt.Errorf("help: there is no command %.80q: parley help lists those that are",
			strings.Join(cmd.Command, " "))}
	}
	_, err := io.WriteString(c.out, described.Help(c.helpWidth()))
	return err
}

// help prints the help of the command that was named before --help.
func (c *console) help(parsed *kong.Context) error {
	described := manual.Of(parsed.Model)
	if node := parsed.Selected(); node != nil {
		described, _ = described.Find(commandWords(node)...)
	}
	_, err := io.WriteString(c.out, described.Help(c.helpWidth()))
	return err
}

// introduce is for who typed the program's name alone.
func (c *console) introduce(app *kong.Application) error {
	_, err := io.WriteString(c.out, manual.Of(app).Short(c.helpWidth(), "serve", "talk"))
	return err
}

// commandWords are the words behind the program's name that lead to a command.
func commandWords(n *kong.Node) []string {
	var words []string
	for ; n != nil && n.Type != kong.ApplicationNode; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return words
}
