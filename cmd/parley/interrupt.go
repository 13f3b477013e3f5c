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

// signalled is why the context of a command ended: a signal came. It counts as
// context.Canceled for whoever asks with errors.Is.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string      { return s.word() }
func (signalled) Is(target error) bool { return target == context.Canceled }

// exitCode is what shells give a command that the signal ended.
func (s signalled) exitCode() int { return 128 + int(s.signal) }

// word says in the past tense what the signal does.
func (s signalled) word() string {
	switch s.signal {
	case syscall.SIGINT:
		return "interrupted"
	case syscall.SIGHUP:
		return "hung up"
	}
	return "terminated"
}

// untilSignalled returns a context that the first Ctrl-C, SIGTERM or SIGHUP
// cancels, with signalled as its cause. A second signal ends the process at
// once. Signals that the process was started to ignore (by nohup, say) stay
// ignored.
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

	service bool // SIGTERM is how the command is meant to be stopped, and no failure
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

// allowInstantExit says that nothing is lost if a signal ends the command in the
// middle of what it does now, and what to tell then. It is for work in C
// libraries, such as loading a model, which looks at no context for seconds.
func (c *console) allowInstantExit(i interrupted) { c.instantExit.Store(&i) }

// forbidInstantExit takes back allowInstantExit: from here on a signal cancels the
// command's context, and the command is waited for.
func (c *console) forbidInstantExit() { c.instantExit.Store(nil) }

// exitGrace is how long a command that may end at once has to end by itself
// after a signal, and say better what is kept: people notice about as much.
const exitGrace = 200 * time.Millisecond

// runCommand runs a command until it returns, or until ctx ends and it may end
// at once.
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
		return *i // its own error is that it was broken off
	}
	return err
}

// wasInterrupted says what a signal that ended ctx broke off, and with which
// code the process exits. ok is false when no signal came.
func wasInterrupted(ctx context.Context, err error) (line string, code int, ok bool) {
	i, told := errors.AsType[interrupted](err)
	s, ok := errors.AsType[signalled](context.Cause(ctx))
	if !ok {
		s = signalled{syscall.SIGINT}
	}
	code = s.exitCode()
	if i.service && s.signal == syscall.SIGTERM {
		code = exitDone
	}
	return i.after(s.word()), code, ok || told
}
