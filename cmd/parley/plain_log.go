package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// plainHandler writes log records for people:
//
//	15:04:05 INFO  listening address=127.0.0.1:8080
type plainHandler struct {
	rest   slog.Handler // writes the attributes to shared.line
	shared *plainShared
}

type plainShared struct {
	mu   sync.Mutex
	line bytes.Buffer
	out  io.Writer
}

func newPlainHandler(out io.Writer, level slog.Leveler) plainHandler {
	s := &plainShared{out: out}
	return plainHandler{shared: s, rest: slog.NewTextHandler(&s.line, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
				return slog.Attr{} // Handle writes these itself
			}
			return a
		},
	})}
}

func (h plainHandler) Enabled(ctx context.Context, l slog.Level) bool { return h.rest.Enabled(ctx, l) }

func (h plainHandler) Handle(ctx context.Context, r slog.Record) error {
	h.shared.mu.Lock()
	defer h.shared.mu.Unlock()
	h.shared.line.Reset()
	if err := h.rest.Handle(ctx, r); err != nil {
		return err
	}
	_, err := fmt.Fprintf(h.shared.out, "%s %-5s %s %s\n", r.Time.Format("15:04:05"), r.Level, r.Message,
		strings.TrimSpace(h.shared.line.String()))
	return err
}

func (h plainHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return plainHandler{h.rest.WithAttrs(a), h.shared}
}

func (h plainHandler) WithGroup(name string) slog.Handler {
	return plainHandler{h.rest.WithGroup(name), h.shared}
}
