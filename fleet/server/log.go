package server

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger writes the log of a NATS server to the program's. What the server notices in passing (its banner, its
// settings, who connects) is for debugging.
type logger struct {
	log *slog.Logger

	mu     sync.Mutex
	failed error // why the server stopped
}

func (l *logger) Noticef(format string, v ...any) { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *logger) Debugf(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *logger) Tracef(format string, v ...any)  { l.log.Debug("nats: " + fmt.Sprintf(format, v...)) }
func (l *logger) Warnf(format string, v ...any)   { l.warn(fmt.Sprintf(format, v...)) }
func (l *logger) Errorf(format string, v ...any)  { l.warn(fmt.Sprintf(format, v...)) }

// warn leaves out what one client did wrong: anybody on the network can be one, and fill the log.
func (l *logger) warn(text string) {
	if strings.Contains(text, " - cid:") {
		l.log.Debug("nats: " + text)
		return
	}
	l.log.Warn("nats: " + text)
}

// Fatalf is called where nats-server would exit.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = errors.Join(l.failed, fmt.Errorf(format, v...))
}

func (l *logger) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}
