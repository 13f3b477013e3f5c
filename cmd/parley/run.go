package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	kongcompletion "github.com/jotaen/kong-completion"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/firmware/packs"
	"parley/plugins/registry"
	"parley/store"
)

// The exit codes of every command. After a signal it is 128 and the number of the
// signal: 130 after Ctrl-C.
const (
	exitDone   = 0
	exitFailed = 1
	exitMisuse = 2
)

// misuse is an error in the command line or the settings.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// isMisuse reports whether an error is about something named in the command line or the
// settings.
func isMisuse(err error) bool {
	return is[misuse](err) || is[contract.ErrInvalid](err) || is[contract.ErrNotFound](err) ||
		is[engine.ErrCannotSay](err) || is[engines.ErrNoVoice](err) || is[registry.ErrUnknown](err) ||
		is[*packs.ErrNoPack](err)
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// shown records that a flag that is a command by itself has run: --help or --version.
type shown struct {
	done bool
	err  error
}

// run runs one command line and returns the exit code. Errors go to the console as one
// line.
func run(ctx context.Context, args []string, c *console) int {
	shown := &shown{}
	ctx, pending := store.WithAct(ctx, store.Act{}) // what is done is known when the command line is parsed
	parser, err := newParser(c.options(ctx, shown)...)
	if err != nil {
		return c.fail(ctx, err)
	}
	if os.Getenv("COMP_LINE") != "" { // a shell asks for completions
		kongcompletion.Register(parser, kongcompletion.WithPredictors(c.predictors(ctx)))
		return exitDone
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	args, err = translateOldCommand(args)
	if err != nil {
		return c.fail(ctx, err)
	}
	parsed, err := parser.Parse(args)
	switch {
	case shown.err != nil:
		return c.fail(ctx, shown.err)
	case shown.done:
		return exitDone
	case err != nil:
		return c.fail(ctx, misuse{fmt.Errorf("%w: see parley %s--help", err, commandOf(err))})
	}
	act, once, found := c.actOf(parsed)
	if found {
		pending.Amend(func(a *store.Act) { *a = act })
	}
	err = c.runCommand(ctx, func() error { return errors.Join(parsed.Run(), c.close()) })
	if missing, ok := errors.AsType[notProvided](err); ok {
		err = missing.error
	}
	if err != nil {
		return c.fail(ctx, fmt.Errorf("%s: %w", strings.Fields(parsed.Command())[0], err))
	}
	if found {
		c.recordAct(ctx, pending, once)
	}
	return exitDone
}

// notProvided is the error of a provider of a command's arguments, which kong wraps with
// the names of Go types.
type notProvided struct{ error }

func orNotProvided[T any](v T, err error) (T, error) {
	if err != nil {
		err = notProvided{err}
	}
	return v, err
}

// options returns the options of kong: help, output, and the arguments of commands.
func (c *console) options(ctx context.Context, shown *shown) []kong.Option {
	return []kong.Option{
		kong.Help(func(o kong.HelpOptions, parsed *kong.Context) error {
			shown.err = kong.DefaultHelpPrinter(o, parsed)
			return shown.err
		}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 100}),
		kong.Writers(c.out, c.err),
		kong.Exit(func(int) { shown.done = true }),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c, shown),
		kong.BindSingletonProvider(func(parsed *kong.Context) (config.Config, error) {
			return orNotProvided(c.config(parsed))
		}),
		kong.BindSingletonProvider(func(cfg config.Config) (*store.Store, error) {
			return orNotProvided(c.openStore(ctx, cfg))
		}),
		kong.BindSingletonProvider(c.openRegistry),
	}
}

// commandOf returns the command at which parsing stopped, followed by a space.
func commandOf(err error) string {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || parse.Context == nil || parse.Context.Selected() == nil {
		return ""
	}
	return strings.TrimPrefix(parse.Context.Selected().FullPath(), "parley ") + " "
}

// fail prints an error and returns its exit code.
func (c *console) fail(ctx context.Context, err error) int {
	if line, code, ok := wasInterrupted(ctx, err); ok {
		if onTerminal(c.err) {
			fmt.Fprint(c.err, "\r") // over the ^C that the terminal shows
		}
		c.complain(line)
		return code
	}
	c.complain(err.Error())
	if isMisuse(err) {
		return exitMisuse
	}
	return exitFailed
}

// complain prints one line on the console's err.
func (c *console) complain(text string) {
	fmt.Fprintln(c.err, "parley: "+strings.Join(strings.Fields(text), " "))
}
