package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen is a terminal of a test.
type screen struct {
	t        *testing.T
	keyboard *os.File

	mu   sync.Mutex
	seen bytes.Buffer
	done chan struct{}
}

// onScreen starts a command on a terminal with so many columns.
func onScreen(t *testing.T, columns int, cmd *exec.Cmd) *screen {
	t.Helper()
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: 50})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	s := &screen{t: t, keyboard: master, done: make(chan struct{})}
	go s.watch()
	return s
}

func (s *screen) watch() {
	defer close(s.done)
	b := make([]byte, 4096)
	for {
		n, err := s.keyboard.Read(b)
		s.mu.Lock()
		s.seen.Write(b[:n])
		s.mu.Unlock()
		if err != nil { // the last one who had it open has gone
			return
		}
	}
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ReplaceAll(s.seen.String(), "\r\n", "\n")
}

// press types text.
func (s *screen) press(text string) {
	if _, err := s.keyboard.WriteString(text); err != nil {
		s.t.Error(err)
	}
}

// shows waits until the screen has shown text.
func (s *screen) shows(text string) bool { return s.showsTimes(1, text) }

func (s *screen) showsTimes(n int, text string) bool {
	for range 2400 { // a minute, for shells on a busy machine
		if strings.Count(s.text(), text) >= n {
			return true
		}
		time.Sleep(25 * time.Millisecond)
	}
	return false
}
