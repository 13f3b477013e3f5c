package webrtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// logs passes on what the library says. Its warnings are of single packets and
// of clients that left, which is of interest to whoever looks for a fault only.
type logs struct{ log *slog.Logger }

// NewLogger is logging.LoggerFactory.
func (l logs) NewLogger(scope string) logging.LeveledLogger {
	return scoped{l.log.With("webrtc", scope)}
}

type scoped struct{ log *slog.Logger }

func (s scoped) say(format string, args ...any) {
	if s.log.Enabled(context.Background(), slog.LevelDebug) {
		s.log.Debug(fmt.Sprintf(format, args...))
	}
}

func (scoped) Trace(string)          {}
func (scoped) Tracef(string, ...any) {}
func (scoped) Debug(string)          {}
func (scoped) Debugf(string, ...any) {}
func (scoped) Info(string)           {}
func (scoped) Infof(string, ...any)  {}

func (s scoped) Warn(said string)                  { s.say("%s", said) }
func (s scoped) Warnf(format string, args ...any)  { s.say(format, args...) }
func (s scoped) Error(said string)                 { s.say("%s", said) }
func (s scoped) Errorf(format string, args ...any) { s.say(format, args...) }
