package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"parley/store"
)

const (
	// boxReady is how long a box may take to be ready: seconds with a warm disk cache,
	// and the time to read 2 GB without.
	boxReady = 2 * time.Minute
	// boxStop is how long it may take to stop; it promises five seconds.
	boxStop = 10 * time.Second
)

// chatPath is the path of chats.
const chatPath = "/v0/evi/chat"

// box is a box in a process of its own, so that its memory and processor time can be
// measured.
type box struct {
	endpoint endpoint
	pid      int
	ready    time.Duration // from its start until it accepts chats
	stop     func() error
}

// startBox starts a box in a temporary folder on a free port. The folder is deleted when
// the box has stopped.
func startBox(ctx context.Context, o Options) (*box, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, fmt.Errorf("a data folder for the box: %w", err)
	}
	b, err := startBoxOn(ctx, o, filepath.Join(dir, "data"))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	stop := b.stop
	b.stop = sync.OnceValue(func() error { return errors.Join(stop(), os.RemoveAll(dir)) })
	return b, nil
}

// startBoxOn starts a box on a data folder, which stays.
func startBoxOn(ctx context.Context, o Options, data string) (_ *box, err error) {
	if len(o.ServeCommand) == 0 {
		return nil, errors.New("the command to start a box is missing")
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	output := &lastLine{log: o.Log}
	cmd := o.boxCommand(ctx, data, address, output)
	begun, ended := time.Now(), make(chan error, 1)
	started := make(chan error, 1)
	go func() {
		err := runBox(cmd, started)
		cancel() // ends the wait for it
		ended <- err
	}()
	b := &box{endpoint: endpoint{address: address}}
	b.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		return stopped(err)
	})
	if err := <-started; err != nil {
		return nil, b.abandon(fmt.Errorf("starting a box: %w", err))
	}
	b.pid = cmd.Process.Pid
	if err := b.endpoint.untilReady(ctx); err != nil {
		return nil, b.abandon(fmt.Errorf("the box is not ready after %v: %w: %s", time.Since(begun).Round(time.Second),
			err, output))
	}
	b.ready = time.Since(begun)
	if b.endpoint.key, err = newKey(ctx, data); err != nil {
		return nil, b.abandon(err)
	}
	return b, nil
}

// freeAddress returns a free address on loopback.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("an address for the box: %w", err)
	}
	return l.Addr().String(), l.Close()
}

// boxCommand returns the command that runs a box on the data folder. The box is asked to
// stop when ctx ends.
func (o Options) boxCommand(ctx context.Context, data, address string, output io.Writer) *exec.Cmd {
	slots := max(o.Config.MaxChats(), slices.Max(o.Chats))
	args := append(slices.Clone(o.ServeCommand[1:]),
		"--data", data, "--listen", address, "--tls", "off", "--log-level", "warn",
		"--max-chats", strconv.Itoa(slots), "--max-added-ms", "0") // refuse no chats for slow answers
	cmd := exec.CommandContext(ctx, o.ServeCommand[0], args...)
	cmd.Stderr = output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = boxStop
	// The box ends with this process, even if this process is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return cmd
}

// abandon stops a box that failed, and returns why. How it ends does not matter.
func (b *box) abandon(why error) error {
	_ = b.stop()
	return why
}

// runBox starts the process and returns how it ended.
func runBox(cmd *exec.Cmd, started chan<- error) error {
	// The kernel takes the end of the thread that started a process for the end of its
	// parent, so this goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		return err
	}
	return cmd.Wait()
}

// stopped returns what is wrong with the end of a box that was asked to stop.
func stopped(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); errors.Is(err, context.Canceled) || ok && exit.Success() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the box did not stop cleanly: %w", err)
	}
	return nil
}

// lastLine logs the box's lines on standard error, and keeps the last one.
type lastLine struct {
	log *slog.Logger

	mu   sync.Mutex
	line string
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		if line = strings.TrimSpace(line); line != "" {
			l.line = line
			l.log.Warn("output of the box", "line", line)
		}
	}
	return len(p), nil
}

func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line
}

// newKey creates a key for the box of the folder dir: an operator's, which also gives
// access to its figures.
func newKey(ctx context.Context, dir string) (string, error) {
	records, err := store.Join(ctx, dir)
	if err != nil {
		return "", err
	}
	made, err := records.CreateKey(ctx,
		store.NewKey{Account: "default", Label: "parley-bench", Role: store.OperatorKey})
	return made.APIKey, errors.Join(err, records.Close())
}

// readyPoll is how often a starting box is asked whether it is ready: a hundredth of the
// time of a start.
const readyPoll = 20 * time.Millisecond

// untilReady waits until a conversation could begin.
func (p endpoint) untilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, boxReady)
	defer cancel()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+"/readyz", nil)
		if err != nil {
			return err
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if err := sleep(ctx, readyPoll); err != nil {
			return err
		}
	}
}
