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

// lines splits the output of a plugin into lines and logs them, up to maxLog bytes.
type lines struct {
	emit   func(Line)
	level  string
	ended  func() error // returns why the call is over; nil while it runs
	part   []byte
	logged int
	last   string // last line that was not empty
	crash  crash
}

// Write adds output. It fails when the call is over, because one WASI call may write the
// same megabytes a million times.
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

// flush logs the output since the last line end.
func (l *lines) flush() {
	text := printable(l.part)
	l.part = l.part[:0]
	if strings.TrimSpace(text) != "" {
		l.last = text
		l.crash.read(text)
		l.log(l.level, text)
	}
}

// log logs one line.
func (l *lines) log(level, text string) {
	if l.emit == nil || l.logged > maxLog {
		return
	}
	if l.logged += len(text) + 1; l.logged > maxLog {
		level, text = "warn", "more was logged in this call than is kept"
	}
	l.emit(Line{level, text})
}

// printable returns output of a plugin as a text of limited length. It replaces control
// characters, because the text is shown on terminals.
func printable(b []byte) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && unicode.IsControl(c) {
			return unicode.ReplacementChar
		}
		return c
	}, string(b[:min(len(b), maxLine)]))
}

// recoveredSuffix ends an error of the runtime after a host function panicked.
const recoveredSuffix = " (recovered by wazero)"

// firstLine returns an error of the runtime without its stack trace.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.TrimPrefix(text, "wasm error: ")
	return strings.TrimSuffix(text, recoveredSuffix)
}
