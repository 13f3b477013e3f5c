package webrtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// logFactory logs the messages of the library at debug level. Its warnings are about single
// packets and clients that left.
type logFactory struct{ log *slog.Logger }

// NewLogger implements logging.LoggerFactory.
func (l logFactory) NewLogger(scope string) logging.LeveledLogger {
	return scopedLog{l.log.With("webrtc", scope)}
}

type scopedLog struct{ log *slog.Logger }

func (s scopedLog) write(format string, args ...any) {
	if s.log.Enabled(context.Background(), slog.LevelDebug) {
		s.log.Debug(fmt.Sprintf(format, args...))
	}
}

func (scopedLog) Trace(string)          {}
func (scopedLog) Tracef(string, ...any) {}
func (scopedLog) Debug(string)          {}
func (scopedLog) Debugf(string, ...any) {}
func (scopedLog) Info(string)           {}
func (scopedLog) Infof(string, ...any)  {}

func (s scopedLog) Warn(said string)                  { s.write("%s", said) }
func (s scopedLog) Warnf(format string, args ...any)  { s.write(format, args...) }
func (s scopedLog) Error(said string)                 { s.write("%s", said) }
func (s scopedLog) Errorf(format string, args ...any) { s.write(format, args...) }
