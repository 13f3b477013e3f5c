package sandbox

import (
	"strings"
)

const (
	// maxLine bounds a line of a log.
	maxLine = 2 << 10
)

// lines cuts what a plugin writes into lines and tells them, up to maxLog bytes.
type lines struct {
	tell  func(Line)
	level string
	part  []byte
	told  int
	last  string // the last line that was not empty
}

func (l *lines) Write(b []byte) (int, error) {
	for _, c := range b {
		if c == '\n' {
			l.flush()
		} else if len(l.part) < maxLine {
			l.part = append(l.part, c)
		}
	}
	return len(b), nil
}

// flush tells what was written since the last line ended.
func (l *lines) flush() {
	text := strings.ToValidUTF8(string(l.part), "�")
	l.part = l.part[:0]
	if strings.TrimSpace(text) != "" {
		l.last = text
		l.say(l.level, text)
	}
}

// say tells one line of level.
func (l *lines) say(level, text string) {
	if l.tell == nil || l.told > maxLog {
		return
	}
	if l.told += len(text) + 1; l.told > maxLog {
		level, text = "warn", "more was logged in this call than is kept"
	}
	l.tell(Line{level, text})
}

// firstLine is an error of the runtime without the stack trace below it.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	text = strings.TrimPrefix(text, "wasm error: ")
	return strings.TrimSuffix(text, " (recovered by wazero)")
}
