package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"sync/atomic"

	"golang.org/x/term"

	"parley/appliance/config"
)

// console is where a command reads and writes.
type console struct {
	in       io.Reader
	out, err io.Writer
	environ  []string

	atOnce atomic.Pointer[interrupted] // see endsAtOnce
}

func standardConsole() *console {
	return &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
}

// json prints v on one line.
func (c *console) json(v any) error {
	e := json.NewEncoder(c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// logger writes to the console's err: for people on a terminal, as JSON
// elsewhere, unless the settings say which.
func (c *console) logger(cfg config.Log) *slog.Logger {
	if cfg.Format == "text" || cfg.Format == "auto" && onTerminal(c.err) {
		return slog.New(newPlainHandler(c.err, cfg.Level))
	}
	return slog.New(slog.NewJSONHandler(c.err, &slog.HandlerOptions{Level: cfg.Level}))
}

// quietLogger is for commands that do one thing: only what went wrong is said,
// unless the settings ask for everything.
func (c *console) quietLogger(cfg config.Log) *slog.Logger {
	if cfg.Level > slog.LevelDebug {
		cfg.Level = max(cfg.Level, slog.LevelWarn)
	}
	return c.logger(cfg)
}

func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
