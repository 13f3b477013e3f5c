package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// signalled is the cause of the end of a command's context after a signal. It matches
// context.Canceled.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string      { return s.word() }
func (signalled) Is(target error) bool { return target == context.Canceled }

// exitCode is the code that shells use for a command ended by the signal.
func (s signalled) exitCode() int { return 128 + int(s.signal) }

// word says in the past tense what the signal did.
func (s signalled) word() string {
	switch s.signal {
	case syscall.SIGINT:
		return "interrupted"
	case syscall.SIGHUP:
		return "hung up"
	}
	return "terminated"
}

// untilSignalled returns a context that the first Ctrl-C, SIGTERM or SIGHUP cancels, with
// signalled as its cause. A second signal ends the process at once. Signals that the
// process ignored from its start, as under nohup, stay ignored.
func untilSignalled(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(came, s)
		}
	}
	go func() {
		s := <-came
		signal.Stop(came)
		cancel(signalled{s.(syscall.Signal)})
	}()
	return ctx
}

// interrupted is the error of a command that a signal ended before it was done.
type interrupted struct {
	state string // what is left of its work: "1 of 3 packs is ready"
	next  string // how to go on: "parley packs pull fetches the rest"

	service bool // SIGTERM is the normal way to stop the command, and not a failure
}

func (i interrupted) Error() string { return i.after("interrupted") }

func (i interrupted) after(word string) string {
	parts := []string{word}
	for _, p := range []string{i.state, i.next} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// allowInstantExit declares that nothing is lost if a signal ends the command during the
// present work, and what to print then. It is for work in C libraries, such as loading a
// model, that cannot be cancelled for seconds.
func (c *console) allowInstantExit(i interrupted) { c.instantExit.Store(&i) }

// forbidInstantExit reverts allowInstantExit: from here on a signal cancels the command's
// context, and run waits for the command.
func (c *console) forbidInstantExit() { c.instantExit.Store(nil) }

// exitGrace is how long a command that allows an instant exit may take to end by itself
// after a signal, with a better message: about what a person notices.
const exitGrace = 200 * time.Millisecond

// runCommand runs a command until it returns, or until ctx ends and it allows an instant
// exit.
func (c *console) runCommand(ctx context.Context, command func() error) error {
	returned := make(chan error, 1)
	go func() { returned <- command() }()
	select {
	case err := <-returned:
		return err
	case <-ctx.Done():
	}
	var err error
	select {
	case err = <-returned:
	case <-time.After(exitGrace):
		if i := c.instantExit.Load(); i != nil {
			return *i
		}
		err = <-returned
	}
	if i := c.instantExit.Load(); i != nil && err != nil && !errors.As(err, new(interrupted)) {
		return *i // its own error only says that it was cancelled
	}
	return err
}

// wasInterrupted returns the message and the exit code for a command that a signal ended;
// ok is false if no signal came.
func wasInterrupted(ctx context.Context, err error) (line string, code int, ok bool) {
	i, known := errors.AsType[interrupted](err)
	s, ok := errors.AsType[signalled](context.Cause(ctx))
	if !ok {
		s = signalled{syscall.SIGINT}
	}
	code = s.exitCode()
	if i.service && s.signal == syscall.SIGTERM {
		code = exitDone
	}
	return i.after(s.word()), code, ok || known
}
