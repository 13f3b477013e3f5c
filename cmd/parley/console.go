package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"parley/appliance/config"
)

// console holds the input, the output and the environment of a command.
type console struct {
	in       io.Reader
	out, err io.Writer
	environ  []string

	instantExit atomic.Pointer[interrupted] // see allowInstantExit
	closers     []func() error              // close what was opened for the command
	opened      *os.File                    // the operator's file, see runAsOwnerWith
	data        string                      // data folder of the command's settings; empty: it has none
}

func standardConsole() *console {
	return &console{
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
		environ: os.Environ(),
	}
}

// close closes what was opened for the command, last opened first.
func (c *console) close() (err error) {
	for _, shut := range slices.Backward(c.closers) {
		err = errors.Join(err, shut())
	}
	return err
}

// json prints v as JSON on one line.
func (c *console) json(v any) error {
	return writeJSON(c.out, v)
}

// logger returns a logger that writes to the console's err: as text on a terminal, else
// as JSON, unless the settings name a format.
func (c *console) logger(cfg config.Log) *slog.Logger {
	if cfg.Format == "text" || cfg.Format == "auto" && onTerminal(c.err) {
		return slog.New(tint.NewTextHandler(c.err, &tint.Options{
			Level:      cfg.Level,
			TimeFormat: time.TimeOnly,
			NoColor:    true,
			ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
				if a.Key == slog.LevelKey && len(groups) == 0 {
					a.Value = slog.StringValue(fmt.Sprintf("%-5s", a.Value)) // whole words in a column
				}
				return a
			},
		}))
	}
	return slog.New(slog.NewJSONHandler(c.err, &slog.HandlerOptions{Level: cfg.Level}))
}

// quietLogger is a logger for commands that do one thing: it logs warnings and errors
// only, unless the level is debug.
func (c *console) quietLogger(cfg config.Log) *slog.Logger {
	if cfg.Level > slog.LevelDebug {
		cfg.Level = max(cfg.Level, slog.LevelWarn)
	}
	return c.logger(cfg)
}

// print prints the result of a command: v as JSON, or formatted text.
func (c *console) print(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return c.json(v)
	}
	_, err := fmt.Fprintf(c.out, format, args...)
	return err
}

// list prints records as JSON, or as a table with a row each.
func list[T any](c *console, asJSON bool, all []T, head []string, row func(T) []string) error {
	if asJSON {
		return c.json(append([]T{}, all...))
	}
	rows := [][]string{head}
	for _, one := range all {
		rows = append(rows, row(one))
	}
	return c.table(rows...)
}

// table prints rows in columns. Control characters in names become spaces, so that they
// cannot affect the terminal.
func (c *console) table(rows ...[]string) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	var err error
	for _, row := range rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, strings.Map(func(r rune) rune {
				if unicode.IsControl(r) {
					return ' '
				}
				return r
			}, cell))
		}
		_, failed := fmt.Fprintln(w, strings.Join(cells, "\t"))
		err = errors.Join(err, failed)
	}
	return errors.Join(err, w.Flush())
}

// writeJSON writes v as JSON on one line.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func onTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
