package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"parley/firmware/packs"
)

// The exit codes of every command. One that a signal ended exits with 128 and
// the signal's number: 130 after Ctrl-C.
const (
	exitDone   = 0
	exitFailed = 1
	exitMisuse = 2
)

// misuse is an error of whoever wrote the command line or the settings.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// run carries out one command line and returns the exit code. Errors go to
// the console as one line.
func run(ctx context.Context, args []string, c *console) int {
	if len(args) == 0 {
		args = []string{"--help"}
	}
	helped := false
	parser, err := kong.New(withSettings(&commandLine{}),
		kong.Name("parley"),
		kong.Description("Parley turns a machine into a voice service with models of its own: nothing leaves the box.\n\nSettings come from flags, then PARLEY_… variables, then parley.yaml. Exit codes: 0 done, 1 failed, 2 wrong use, 130 ended by Ctrl-C."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.Vars{"profiles": listOf(packs.Profiles())},
		kong.Writers(c.out, c.err),
		kong.Exit(func(int) { helped = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		return c.fail(ctx, err)
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return exitDone
	case err != nil:
		return c.fail(ctx, misuse{fmt.Errorf("%w: see parley %s--help", err, commandOf(err))})
	}
	if err := c.carryOut(ctx, func() error { return parsed.Run() }); err != nil {
		return c.fail(ctx, err)
	}
	return exitDone
}

// listOf is a list as people write it: "a, b or c".
func listOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// commandOf is the command at which parsing stopped, followed by a space.
func commandOf(err error) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil {
		return ""
	}
	node := parse.Context.Selected()
	if node == nil {
		return ""
	}
	return node.Path() + " "
}

// fail tells what went wrong and returns the exit code for it.
func (c *console) fail(ctx context.Context, err error) int {
	if line, code, ok := wasInterrupted(ctx, err); ok {
		if onTerminal(c.err) {
			fmt.Fprint(c.err, "\r") // over the ^C that the terminal shows
		}
		fmt.Fprintf(c.err, "parley: %s\n", oneLine(line))
		return code
	}
	fmt.Fprintf(c.err, "parley: %s\n", oneLine(err.Error()))
	if _, ok := errors.AsType[misuse](err); ok {
		return exitMisuse
	}
	return exitFailed
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
