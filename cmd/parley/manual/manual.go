// Package manual makes all that a command line says of itself of one
// description of it: help at a terminal, a man page, a page in Markdown.
package manual

import (
	"go/doc/comment"
	"strings"

	"github.com/alecthomas/kong"
)

// A Command is what there is to know of a command: the program itself, or one
// of those below it.
type Command struct {
	Name      string // as it is typed: "parley keys create"
	Summary   string // one sentence
	Usage     string // "parley keys create [flags]"
	Group     string // the heading under which its parent lists it
	Text      []Block
	Examples  string // command lines, a blank line between two
	Arguments []Option
	Flags     []Option // its own, without --help
	Commands  []Command
}

// A Block is a paragraph, or lines that are shown as they are.
type Block struct {
	Text     string
	Verbatim bool
}

// An Option is a flag or an argument.
type Option struct {
	Name  string // "--data=DIR"
	Help  string
	Group string // the heading under which it is listed; may be empty
}

// A Section is a chapter of the manual that is about no command.
type Section struct {
	Title   string
	Text    string   // paragraphs
	Entries []Option // a list below them
}

// A Manual is all commands and what they have in common.
type Manual struct {
	Program  Command
	Sections []Section
}

// Of describes the commands of a kong model. What is hidden there is not in it.
func Of(app *kong.Application) Command { return describe(app.Node) }

// Find returns the command that the words name below c.
func (c Command) Find(words ...string) (Command, bool) {
	for _, word := range words {
		next := -1
		for i, sub := range c.Commands {
			if sub.last() == word {
				next = i
			}
		}
		if next < 0 {
			return Command{}, false
		}
		c = c.Commands[next]
	}
	return c, true
}

// All returns c and every command below it.
func (c Command) All() []Command {
	all := []Command{c}
	for _, sub := range c.Commands {
		all = append(all, sub.All()...)
	}
	return all
}

func (c Command) last() string { return c.Name[strings.LastIndex(c.Name, " ")+1:] }

func describe(n *kong.Node) Command {
	c := Command{Name: n.FullPath(), Summary: n.Help}
	c.Text, c.Examples = apart(n.Detail)
	c.Group = heading(n.Group)
	usage := []string{c.Name}
	for _, a := range n.Positional {
		c.Arguments = append(c.Arguments, Option{Name: argument(a), Help: a.Help})
		usage = append(usage, argument(a))
	}
	for node := n; node != nil; node = node.Parent {
		var flags []Option
		for _, f := range node.Flags {
			switch {
			case f.Name == "help" || f.Hidden || node != n && node.Type == kong.ApplicationNode:
			default:
				flags = append(flags, Option{flag(f), flagHelp(f), heading(f.Group)})
				if f.Required {
					usage = append(usage, f.Summary())
				}
			}
		}
		c.Flags = append(c.Flags, flags...)
	}
	for _, sub := range n.Children {
		if !sub.Hidden {
			c.Commands = append(c.Commands, describe(sub))
		}
	}
	if len(c.Commands) > 0 {
		usage = append(usage, "COMMAND")
	}
	if len(c.Flags) > 0 || len(c.Commands) > 0 {
		usage = append(usage, "[flags]")
	}
	c.Usage = strings.Join(usage, " ")
	return c
}

func heading(g *kong.Group) string {
	if g == nil {
		return ""
	}
	return g.Title
}

// under returns the options under their headings, in the order in which those
// come first; otherwise is the heading of those that have none.
func under(list []Option, otherwise string) []Section {
	var groups []Section
	for _, o := range list {
		title := o.Group
		if title == "" {
			title = otherwise
		}
		i := 0
		for i < len(groups) && groups[i].Title != title {
			i++
		}
		if i == len(groups) {
			groups = append(groups, Section{Title: title})
		}
		groups[i].Entries = append(groups[i].Entries, o)
	}
	return groups
}

// groups are the commands below c under their headings.
func (c Command) groups() []Section {
	var list []Option
	for _, sub := range c.Commands {
		list = append(list, Option{sub.last(), sub.Summary, sub.Group})
	}
	return under(list, "Commands")
}

// argument is a positional argument in capitals: FILE, [NAME...].
func argument(v *kong.Value) string {
	name := strings.ToUpper(v.Name)
	if v.IsCumulative() {
		name += "..."
	}
	if !v.Required {
		name = "[" + name + "]"
	}
	return name
}

func flag(f *kong.Flag) string {
	text := "--" + f.Name
	if f.Short != 0 {
		text = "-" + string(f.Short) + ", " + text
	}
	if f.IsBool() {
		return text
	}
	if f.PlaceHolder != "" {
		return text + "=" + f.PlaceHolder
	}
	return text + "=" + strings.ToUpper(f.Name)
}

func flagHelp(f *kong.Flag) string {
	if len(f.Envs) == 0 {
		return f.Help
	}
	return f.Help + " Else the variable " + strings.Join(f.Envs, " or ") + "."
}

// apart takes a command's long text apart into its examples, which are the
// indented lines behind "Example:" or "Examples:", and the rest.
func apart(text string) (rest []Block, examples string) {
	var parser comment.Parser
	announced := false
	for _, block := range parser.Parse(text).Content {
		b := plain(block)
		switch {
		case b.Verbatim && announced:
			examples = strings.TrimPrefix(examples+"\n\n"+b.Text, "\n\n")
			continue
		case b.Text == "Example:" || b.Text == "Examples:":
			announced = true
			continue
		}
		announced = false
		rest = append(rest, b)
	}
	return rest, examples
}

// plain is a block of a Go comment, whose form the long texts have.
func plain(block comment.Block) Block {
	if code, ok := block.(*comment.Code); ok {
		return Block{strings.TrimRight(code.Text, "\n"), true}
	}
	printer := comment.Printer{TextWidth: -1} // one line a paragraph
	text := printer.Text(&comment.Doc{Content: []comment.Block{block}})
	return Block{Text: strings.Join(strings.Fields(string(text)), " ")}
}
