package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"parley/cmd/parley/terminal"
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

// shown is what a flag did that is a command by itself: --help or --version.
type shown struct {
	done bool
	err  error
}

// run carries out one command line and returns the exit code. Errors go to
// the console as one line.
func run(ctx context.Context, args []string, c *console) int {
	shown := &shown{}
	parser, err := newParser(
		kong.Help(func(_ kong.HelpOptions, parsed *kong.Context) error {
			shown.err = c.help(parsed)
			return nil
		}),
		kong.Writers(c.out, c.err),
		kong.Exit(func(int) { shown.done = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, shown),
	)
	if err != nil {
		return c.fail(ctx, err)
	}
	if len(args) == 0 {
		shown.done, shown.err = true, c.introduce(parser.Model)
	}
	parsed, err := parser.Parse(args)
	switch {
	case shown.done && shown.err != nil:
		return c.fail(ctx, shown.err)
	case shown.done:
		return exitDone
	case err != nil:
		return c.fail(ctx, misuse{fmt.Errorf("%w: see parley %s--help", err, commandOf(err))})
	}
	if err := c.carryOut(ctx, func() error { return parsed.Run() }); err != nil {
		return c.fail(ctx, err)
	}
	return exitDone
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
	return strings.Join(commandWords(node), " ") + " "
}

// fail tells what went wrong and returns the exit code for it.
func (c *console) fail(ctx context.Context, err error) int {
	if line, code, ok := wasInterrupted(ctx, err); ok {
		if onTerminal(c.err) {
			fmt.Fprint(c.err, "\r") // over the ^C that the terminal shows
		}
		c.complain(line)
		return code
	}
	c.complain(err.Error())
	if _, ok := errors.AsType[misuse](err); ok {
		return exitMisuse
	}
	return exitFailed
}

// complain writes one line to the console's err, wrapped on a terminal.
func (c *console) complain(text string) {
	fmt.Fprintln(c.err, terminal.Hang("parley: ", text, c.width(c.err)))
}
