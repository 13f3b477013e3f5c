package main

import (
	"bytes"
	"testing"
)

// A table has one line a row, whatever its cells contain, for programs that parse it.
func TestATableHasALineARow(t *testing.T) {
	var out bytes.Buffer
	c := &console{out: &out}
	labels := []string{"the kiosk\nat the\x1b[31m door"}
	err := list(c, false, labels, []string{"ID", "LABEL"}, func(label string) []string {
		return []string{"4tQpYz0aBcDe", label}
	})
	if want := "ID            LABEL\n4tQpYz0aBcDe  the kiosk at the [31m door\n"; err != nil || out.String() != want {
		t.Errorf("%v, %q; want %q", err, out.String(), want)
	}
	out.Reset()
	if err := list(c, true, []string(nil), nil, nil); err != nil || out.String() != "[]\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}
