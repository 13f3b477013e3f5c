package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	// boxReady is how long a box may take to be ready: seconds on a disk that
	// is warm, and the reading of 2 GB on one that is not.
	boxReady = 2 * time.Minute
	// boxStop is how long it may take to stop; it promises five seconds.
	boxStop = 10 * time.Second
)

// chatPath is where a box takes chats.
const chatPath = "/v0/evi/chat"

// box is a box in a process of its own, so that its memory and its processor
// time are its own.
type box struct {
	place place
	pid   int
	ready time.Duration // from its start until a conversation could begin
	stop  func() error

	mu     sync.Mutex
	stages map[string][]time.Duration // of the turns so far, by name
}

// startBox starts a box with the command line serve on a folder and a port of
// its own.
func startBox(ctx context.Context, o Options) (_ *box, err error) {
	if len(o.Serve) == 0 {
		return nil, errors.New("nothing says how to start a box, and no address of one that runs is given")
	}
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, fmt.Errorf("a data folder for the box: %w", err)
	}
	data := filepath.Join(dir, "data")
	ctx, cancel := context.WithCancel(ctx)
	cmd := o.serving(ctx, data)
	log, err := cmd.StderrPipe()
	if err != nil {
		cancel()
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b := &box{stages: map[string][]time.Duration{}}
	begun, ended := time.Now(), make(chan error, 1)
	started := make(chan error, 1)
	said := make(chan boxLine, 16)
	go func() { ended <- runBox(cmd, started, log, said) }()
	b.stop = sync.OnceValue(func() error {
		cancel()
		err := <-ended
		return errors.Join(stopped(err), os.RemoveAll(dir))
	})
	if err := <-started; err != nil {
		return nil, b.abandon(fmt.Errorf("starting a box: %w", err))
	}
	b.pid = cmd.Process.Pid
	address, err := b.follow(ctx, said, o.Log)
	if err != nil {
		return nil, b.abandon(err)
	}
	b.ready, b.place.address = time.Since(begun), "ws://"+address+chatPath
	if b.place.key, err = newKey(ctx, data, o.Log); err != nil {
		return nil, b.abandon(err)
	}
	return b, nil
}

// serving is the command that runs a box on the data folder; it is told to
// stop when ctx ends.
func (o Options) serving(ctx context.Context, data string) *exec.Cmd {
	args := append(slices.Clone(o.Serve[1:]),
		"--data", data, "--listen", "127.0.0.1:0", "--tls", "off", "--log-level", "debug", "--log-format", "json",
		"--max-chats", strconv.Itoa(max(o.Config.MaxChats(), o.Chats)))
	cmd := exec.CommandContext(ctx, o.Serve[0], args...) // runs: itself
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = boxStop
	// The box is to die with us even if we are killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return cmd
}

// abandon stops a box that is no good. How it ends is of no interest then.
func (b *box) abandon(why error) error {
	_ = b.stop()
	return why
}

// runBox starts the process, hands on what it logs, and returns how it ended.
func runBox(cmd *exec.Cmd, started chan<- error, log io.Reader, said chan<- boxLine) error {
	defer close(said)
	// The system takes the end of the thread that started a process for the
	// end of its parent, so this goroutine keeps its thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	started <- err
	if err != nil {
		return err
	}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			said <- readLine(line)
		}
		if err != nil {
			return cmd.Wait()
		}
	}
}

// stopped is what is wrong with how a box ended that was told to stop.
func stopped(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); errors.Is(err, context.Canceled) || ok && exit.Success() {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the box did not stop as it should: %w", err)
	}
	return nil
}

// boxLine is a line of a box's log, as far as it matters here. A line that is
// not JSON is all Message.
type boxLine struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	Address string `json:"address"`
	whole   string
	fields  map[string]any
}

func readLine(line []byte) boxLine {
	l := boxLine{whole: strings.TrimSpace(string(line))}
	if json.Unmarshal(line, &l) != nil || json.Unmarshal(line, &l.fields) != nil {
		l.Message = l.whole
	}
	return l
}

// follow reads the log until the box is ready, and goes on reading beside it.
func (b *box) follow(ctx context.Context, said <-chan boxLine, log *slog.Logger) (address string, err error) {
	patience := time.After(boxReady)
	last := ""
	for {
		select {
		case l, ok := <-said:
			if !ok {
				return "", fmt.Errorf("the box ended before it was ready: %s", last)
			}
			last = l.whole
			switch l.Message {
			case "listening":
				address = l.Address
			case "ready":
				go b.listen(said, log)
				return address, nil
			}
		case <-patience:
			go b.listen(said, log)
			return "", fmt.Errorf("the box was not ready after %v: %s", boxReady, last)
		case <-ctx.Done():
			go b.listen(said, log)
			return "", context.Cause(ctx)
		}
	}
}

// listen keeps what the box tells of its turns, and passes on what is wrong.
func (b *box) listen(said <-chan boxLine, log *slog.Logger) {
	for l := range said {
		switch {
		case l.Message == "turn":
			b.mu.Lock()
			for name, value := range l.fields {
				if ms, ok := value.(float64); ok && strings.HasSuffix(name, "_ms") {
					b.stages[name] = append(b.stages[name], time.Duration(ms)*time.Millisecond)
				}
			}
			b.mu.Unlock()
		case l.Level == "WARN" || l.Level == "ERROR":
			log.Warn("the box says", "line", l.whole)
		}
	}
}

// newKey makes a key for the box whose data lies in dir.
func newKey(ctx context.Context, dir string, log *slog.Logger) (string, error) {
	records, err := store.Open(ctx, dir, log)
	if err != nil {
		return "", err
	}
	made, err := records.CreateKey(ctx, "default", "parley bench")
	return made.APIKey, errors.Join(err, records.Close())
}
