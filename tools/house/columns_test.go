package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
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
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains([]string{".git", "node_modules", "dist", "bin"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		first, _, _ := bytes.Cut(text, []byte("\n"))
		switch filepath.Ext(name) {
		case ".go", ".ts", ".tsx", ".sh":
		default:
			if !bytes.HasPrefix(first, []byte("#!")) || !bytes.Contains(first, []byte("sh")) {
				return nil
			}
		}
		if bytes.HasPrefix(first, []byte("// Code generated")) {
			return nil
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimSuffix(line, "\n")
			if n := utf8.RuneCountInString(line); n > mostColumns && !unbreakable.MatchString(line) {
				t.Errorf("%s:%d has %d characters; %d are allowed", name, number, n, mostColumns)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
