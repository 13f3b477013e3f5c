package sandbox

import (
	"bytes"
	"strings"
	"unicode"
)

const (
	// maxLine bounds a line of a log.
	maxLine = 2 << 10
)

// lines cuts what a plugin writes into lines and tells them, up to maxLog bytes.
type lines struct {
	emit   func(Line)
	level  string
	ended  func() error // message the call is over; nil while it goes on
	part   []byte
	logged int
	last   string // the last line that was not empty
	crash  crash
}

// Write takes more of what is written. Where the call is over it fails, for one
// call of WASI may write the same megabytes a million times.
func (l *lines) Write(b []byte) (int, error) {
	whole := len(b)
	for len(b) > 0 {
		if err := l.ended(); err != nil {
			return 0, err
		}
		line, rest, complete := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), maxLine-len(l.part))]...)
		if complete {
			l.flush()
		}
		b = rest
	}
	return whole, nil
}

// flush tells what was written since the last line ended.
func (l *lines) flush() {
	text := printable(l.part)
	l.part = l.part[:0]
	if strings.TrimSpace(text) != "" {
		l.last = text
		l.crash.read(text)
		l.log(l.level, text)
	}
}

// log tells one line of level.
func (l *lines) log(level, text string) {
	if l.emit == nil || l.logged > maxLog {
		return
	}
	if l.logged += len(text) + 1; l.logged > maxLog {
		level, text = "warn", "more was logged in this call than is kept"
	}
	l.emit(Line{level, text})
}

// printable is what a plugin wrote as a text of one line at most. Control characters
// are taken out, for it is shown on terminals.
func printable(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && unicode.IsControl(c) {
			return unicode.ReplacementChar
		}
		return c
	}, string(b[:min(len(b), maxLine)]))
}

// recoveredSuffix is in an error of the runtime where a function of the box panicked.
const recoveredSuffix = " (recovered by wazero)"

// firstLine is an error of the runtime without the stack trace below it.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.TrimPrefix(text, "wasm error: ")
	return strings.TrimSuffix(text, recoveredSuffix)
}
