package main

import (
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/term"

	"parley/appliance/config"
	"parley/cmd/parley/terminal"
)

// console is where a command reads and writes.
type console struct {
	in       io.Reader
	out, err io.Writer
	environ  []string

	atOnce atomic.Pointer[interrupted] // see endsAtOnce
}

func standardConsole() *console {
	return &console{
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		environ: os.Environ(),
	}
}

// json prints v on one line.
func (c *console) json(v any) error {
	return writeJSON(c.out, v)
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

// width is how many columns a stream shows: COLUMNS, else what its terminal
// has; 0 where it is none, for programs read whole lines.
func (c *console) width(stream io.Writer) int {
	if !onTerminal(stream) {
		return 0
	}
	return c.columns(stream)
}

// helpWidth is the width of help, which is for people wherever it goes.
func (c *console) helpWidth() int { return c.columns(c.out) }

func (c *console) columns(stream io.Writer) int {
	const usual, least = 80, 20
	for _, variable := range c.environ {
		if value, ok := strings.CutPrefix(variable, "COLUMNS="); ok {
			if n, err := strconv.Atoi(value); err == nil && n > 0 {
				return max(n, least)
			}
		}
	}
	if f, ok := stream.(*os.File); ok {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return max(n, least)
		}
	}
	return usual
}

// table prints a table that fits into the terminal.
func (c *console) table(t *terminal.Table) error { return t.Write(c.out, c.width(c.out)) }

func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
