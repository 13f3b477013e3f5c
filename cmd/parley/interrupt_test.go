package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/appliance/contract"
)

// program returns a command that runs the command line in a process of its own, with only
// a home and the given variables in its environment.
func program(t *testing.T, environ []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append([]string{"PARLEY_TEST_PROGRAM=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, environ...)
	cmd.WaitDelay = time.Minute
	return cmd
}

// signalWhenReady starts a program, sends it a signal when ready is closed, and returns
// its exit code, its standard error, and how long it took to end.
func signalWhenReady(t *testing.T, cmd *exec.Cmd, ready <-chan struct{}, s syscall.Signal) (code int, errs string,
	took time.Duration) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ready:
	case <-time.After(time.Minute):
		t.Error("not ready after a minute")
	}
	begun := time.Now()
	if err := cmd.Process.Signal(s); err != nil {
		t.Error(err)
	}
	err := cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		code = exit.ExitCode()
	}
	return code, out.String(), time.Since(begun)
}

// instantExit is how soon a command must end that does not wait for its work: seconds on
// a busy machine, where the work would take minutes or more.
const atOnce = 20 * time.Second

func TestCtrlCEndsACommandWithOneLineAnd130(t *testing.T) {
	for signal, want := range map[syscall.Signal]struct {
		code int
		word string
	}{
		syscall.SIGINT:  {130, "parley: interrupted"},
		syscall.SIGTERM: {143, "parley: terminated"},
		syscall.SIGHUP:  {129, "parley: hung up"},
	} {
		ready := make(chan struct{})
		url := fakeBox(t, func(ctx context.Context, box *fakeLine) {
			box.next(ctx)
			if _, ok := box.next(ctx).(contract.UserInput); ok {
				close(ready)
			}
			box.next(ctx)
		})
		cmd := program(t, nil, "talk", "--text", "--url", url, "--key", "right")
		cmd.Stdin = strings.NewReader("hello\n")
		code, errs, took := signalWhenReady(t, cmd, ready, signal)
		if code != want.code || !strings.HasPrefix(errs, want.word) || strings.Count(errs, "\n") != 1 || took > atOnce {
			t.Errorf("%v: code %d after %v, %q; want %d and one line with %q", signal, code, took, errs, want.code,
				want.word)
		}
	}
}

// A command in a C library ignores its context.
func TestACommandThatMayEndAtOnceIsNotWaitedFor(t *testing.T) {
	c := &console{out: io.Discard, err: io.Discard}
	ctx, cancel := context.WithCancelCause(t.Context())
	deaf := make(chan struct{})
	defer close(deaf)
	c.allowInstantExit(interrupted{state: "nothing was said"})
	cancel(signalled{syscall.SIGINT})
	err := c.runCommand(ctx, func() error { <-deaf; return nil })
	line, code, ok := wasInterrupted(ctx, fmt.Errorf("say: %w", err))
	if line != "interrupted: nothing was said" || code != 130 || !ok {
		t.Errorf("%q, %d, %v", line, code, ok)
	}
}

func TestACommandThatCleansUpIsWaitedFor(t *testing.T) {
	c := &console{out: io.Discard, err: io.Discard}
	ctx, cancel := context.WithCancelCause(t.Context())
	c.allowInstantExit(interrupted{})
	c.forbidInstantExit()
	cancel(signalled{syscall.SIGINT})
	cleaned := interrupted{state: "a.wav holds the answers so far", next: "play it"}
	err := c.runCommand(ctx, func() error { time.Sleep(2 * exitGrace); return cleaned })
	if line, _, _ := wasInterrupted(ctx, err); line != "interrupted: a.wav holds the answers so far: play it" {
		t.Errorf("%q", line)
	}
}

// A command that returns its context's error has no better message.
func TestACommandThatFailsOfASignalSaysWhatIsKept(t *testing.T) {
	c := &console{out: io.Discard, err: io.Discard}
	ctx, cancel := context.WithCancelCause(t.Context())
	c.allowInstantExit(interrupted{state: "nothing was said", service: true})
	err := c.runCommand(ctx, func() error {
		cancel(signalled{syscall.SIGTERM})
		<-ctx.Done()
		return fmt.Errorf("opening: %w", context.Cause(ctx))
	})
	if line, code, _ := wasInterrupted(ctx, err); line != "terminated: nothing was said" || code != exitDone {
		t.Errorf("%q, %d", line, code)
	}
}
