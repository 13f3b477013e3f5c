package house

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is the longest line that two windows side by side show whole.
const mostColumns = 120

// unbreakable matches what Go allows no line break in: struct tags and directives.
var unbreakable = regexp.MustCompile("^//go:|`[a-z]+:\".*`")

func TestNoLineIsLongerThanAWindowIsWide(t *testing.T) {
	files(t, func(name string, text []byte) {
		first, _, _ := bytes.Cut(text, []byte("\n"))
		script := bytes.HasPrefix(first, []byte("#!")) && bytes.Contains(first, []byte("sh"))
		if !script && !slices.Contains([]string{".go", ".ts", ".tsx", ".sh"}, path.Ext(name)) ||
			bytes.HasPrefix(first, []byte("// Code generated")) {
			return
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > mostColumns && !unbreakable.MatchString(line) {
				t.Errorf("%s:%d has %d characters; %d are allowed", name, number, n, mostColumns)
			}
		}
	})
}
