package isolate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// startTimeout is how long the process may take to start: a tenth of a second, or
	// some seconds on a busy machine.
	startTimeout = 10 * time.Second
	// exitTimeout is how long to wait for the end of a process that has closed its pipe.
	exitTimeout = 200 * time.Millisecond
	// firstInheritable is the first file descriptor after standard error. Go closes its
	// own files in a new program; those that C libraries opened, and those that the box
	// was started with, are marked to be closed (Linux 5.11).
	firstInheritable = 3
)

var (
	// ErrDied means that the process ended before it replied, or sent an invalid reply.
	// It cannot be used any more.
	ErrDied = errors.New("the process died")
	// ErrHung means that it did not reply in time. It cannot be used any more.
	ErrHung = errors.New("the process hangs")
)

// A Process is a started process, as its parent sees it. One goroutine at a time may send
// and receive; any may stop it.
type Process struct {
	cmd      *exec.Cmd
	requests *os.File
	replies  *os.File
	in       *bufio.Reader
	out      []byte // the frame sent last
	reply    []byte // the frame received last
	missing  []string

	ended chan struct{} // closed when the process has ended
	exit  error         // valid then
}

// Start runs this program again, as it is on the disk now or was when it started, as the
// process with that name, and waits until it answers requests. The process has no
// environment. It ends with its parent, however the parent ends.
func Start(name string, args ...string) (*Process, error) {
	// A program whose main does not call Main would start itself for ever.
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		return nil, errors.New("an isolated process must not start another one (does the program's main call Main?)")
	}
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	replies, theirReplies, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirRequests.Close(), requests.Close())
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{name, childArgument}, args...)
	cmd.Env = []string{}
	cmd.Stdin, cmd.Stdout = theirRequests, theirReplies
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p := &Process{
		cmd:      cmd,
		requests: requests,
		replies:  replies,
		in:       bufio.NewReaderSize(replies, 1<<15),
		ended:    make(chan struct{}),
	}
	closeOthers := unix.CloseRange(firstInheritable, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	started := make(chan error, 1)
	go p.run(started)
	err = <-started
	_, _ = theirRequests.Close(), theirReplies.Close()
	if err != nil {
		return nil, errors.Join(err, requests.Close(), replies.Close())
	}
	if err := p.ready(); err != nil {
		p.Stop()
		return nil, err
	}
	if closeOthers != nil {
		p.missing = append(p.missing, fmt.Sprintf("closing of files (%v): it has some of the box's open", closeOthers))
	}
	return p, nil
}

// ready waits for the first message of the process.
func (p *Process) ready() error {
	first, err := p.Receive(time.Now().Add(startTimeout))
	if err != nil {
		return fmt.Errorf("%w (does the program's main call Main?)", err)
	}
	var ready readiness
	if err := json.Unmarshal(first, &ready); err != nil {
		return fmt.Errorf("%w: %w", ErrDied, err)
	}
	if ready.Error != "" {
		return errors.New(ready.Error)
	}
	p.missing = ready.Missing
	return nil
}

// run starts the process and waits for its end. The kernel takes the end of the thread
// that started a process for the end of its parent, so this goroutine stays on its thread.
func (p *Process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.exit = p.cmd.Wait()
	}
}

// MissingProtections returns the protections that this kernel does not have, in words for
// the log; none on a kernel with Landlock and seccomp filters.
func (p *Process) MissingProtections() []string { return slices.Clone(p.missing) }

// Pid returns the process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Send sends a request. The error is ErrDied or ErrHung.
func (p *Process) Send(request []byte, until time.Time) (err error) {
	if p.out, err = appendFrame(p.out[:0], request); err != nil {
		return err
	}
	if err := p.requests.SetWriteDeadline(until); err != nil {
		return fmt.Errorf("%w: %w", ErrDied, err)
	}
	if _, err := p.requests.Write(p.out); err != nil {
		return p.fault(err)
	}
	return nil
}

// Receive returns the next reply, which is valid until the next call. Callers must not
// trust it: an attacker may have taken over the process. The error is ErrDied or ErrHung.
func (p *Process) Receive(until time.Time) (reply []byte, err error) {
	if err := p.replies.SetReadDeadline(until); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDied, err)
	}
	if p.reply, err = readFrame(p.in, p.reply); err != nil {
		return nil, p.fault(err)
	}
	return p.reply, nil
}

// fault returns the error for a process that stopped answering.
func (p *Process) fault(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrHung
	}
	select {
	case <-p.ended:
		return fmt.Errorf("%w: %v", ErrDied, p.exit)
	case <-time.After(exitTimeout):
		return fmt.Errorf("%w: %w", ErrDied, err)
	}
}

// Stop kills the process, which has nothing to save. It may be called again.
func (p *Process) Stop() {
	_ = p.cmd.Process.Kill() // it may have ended already
	<-p.ended
	_, _ = p.requests.Close(), p.replies.Close()
}
