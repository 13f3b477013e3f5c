package house

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// mostColumns is the length of a line that two windows show in full side by side, with
// tabs of four columns.
const mostColumns = 120

// unbreakable matches lines that cannot be broken: directives, and data in test tables.
var unbreakable = regexp.MustCompile("^//go:|^\\s*`[^`]*`:? |^\\s*\"[^\"]*\"[,+]? *$")

// tooLong lists files with longer lines, each with the reason.
var tooLong = map[string]string{
	"appliance/text/date.go":                         "a word list in a pattern",
	"appliance/text/electronic.go":                   "a word list",
	"appliance/text/telephone.go":                    "a word list in a pattern",
	"appliance/audio/shape/settings.go":              "not yet broken",
	"appliance/audio/soundcheck/advise.go":           "not yet broken",
	"appliance/chat/record/webhook_test.go":          "not yet broken",
	"appliance/contract/model_url.go":                "not yet broken",
	"appliance/contract/parse_test.go":               "not yet broken",
	"appliance/directions_test.go":                   "not yet broken",
	"appliance/engine/abridge/abridge_test.go":       "not yet broken",
	"appliance/engine/llama/tool_router_farewell.go": "a word list",
	"appliance/engine/schema/cost_test.go":           "not yet broken",
	"appliance/expression/features.go":               "not yet broken",
	"appliance/language/language_test.go":            "not yet broken",
	"plugins/registry/midway_test.go":                "a module in bytes",
}

// checked reports whether the length of lines matters in a file: in programs, styles,
// shell scripts and Makefiles that people write.
func checked(name string, text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if bytes.HasPrefix(first, []byte("// Code generated")) || tooLong[name] != "" {
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
			if n := utf8.RuneCountInString(line); n > mostColumns && !unbreakable.MatchString(line) {
				t.Errorf("%s:%d has %d columns; %d are allowed", name, number, n, mostColumns)
			}
		}
	})
}
