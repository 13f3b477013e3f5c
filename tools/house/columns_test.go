package house

import (
	"bytes"
	"path"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is the length of a line that two windows show in full side by side, with
// tabs of four columns.
const mostColumns = 120

// checked reports whether the length of lines matters in a file: in programs, styles,
// shell scripts and Makefiles that people write.
func checked(name string, text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("// Code generated")) {
		return false
	}
	switch path.Ext(name) {
	case ".go", ".ts", ".tsx", ".css", ".sh":
		return true
	}
	return path.Base(name) == "Makefile" || bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("sh"))
}

func TestNoLineIsLongerThanAWindowIsWide(t *testing.T) {
	files(t, func(name string, text []byte) {
		if !checked(name, text) {
			return
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
			if n := utf8.RuneCountInString(line); n > mostColumns {
				t.Errorf("%s:%d has %d columns; %d are allowed", name, number, n, mostColumns)
			}
		}
	})
}
