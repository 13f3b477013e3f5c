// Package golden tests the names that users rely on: each kind of names is listed in a
// file of a testdata folder, one a line.
package golden

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// writeVariable makes the tests write the lists instead of comparing them.
const writeVariable = "PARLEY_WRITE_GOLDEN"

// Names fails the test unless the lines, in any order, are those of testdata/NAME.golden.
func Names(t testing.TB, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	lines = slices.Compact(slices.Sorted(slices.Values(lines)))
	if os.Getenv(writeVariable) != "" {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	changed := append(without(known, lines, "- "), without(lines, known, "+ ")...)
	if len(changed) > 0 {
		t.Errorf("users rely on these names (- lost, + new):\n%s\n"+
			"if the change is intended, note it in CHANGELOG.md and renew %s: %s=1 go test -run Golden ./...",
			strings.Join(changed, "\n"), file, writeVariable)
	}
}

// without returns the lines of all that are not in others, each after mark.
func without(all, others []string, mark string) (found []string) {
	for _, line := range all {
		if !slices.Contains(others, line) {
			found = append(found, mark+line)
		}
	}
	return found
}

// Fields returns the names of the JSON fields of t, in order, with those of nested types;
// ? marks optional ones. For a type with its own marshaller it returns the fields of its
// WireType, if it has one, or else of the Go type.
func Fields(t reflect.Type) string {
	if t.Kind() == reflect.Struct {
		if w, ok := reflect.Zero(t).Interface().(interface{ WireType() reflect.Type }); ok {
			return Fields(w.WireType())
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return Fields(t.Elem())
	case reflect.Struct:
		return "{" + strings.Join(slices.Sorted(slices.Values(fieldNames(t))), " ") + "}"
	}
	return ""
}

// fieldNames returns the JSON fields of a struct, including those of embedded structs.
func fieldNames(t reflect.Type) (all []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, fieldNames(f.Type)...)
		case name == "" || name == "-":
		case strings.Contains(options, "omit"):
			all = append(all, name+"?"+Fields(f.Type))
		default:
			all = append(all, name+Fields(f.Type))
		}
	}
	return all
}
