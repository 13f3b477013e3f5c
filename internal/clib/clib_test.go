package clib

import (
	"strings"
	"testing"
)

func TestFirstExistingLibraryIsOpened(t *testing.T) {
	lib, err := Open("libnot-there", "libmp3lame.so.0")
	if err != nil {
		t.Fatal(err)
	}
	var version func() string
	if err := lib.Bind(map[string]any{"get_lame_version": &version}); err != nil || version() == "" {
		t.Errorf("it does not tell its version: %v", err)
	}
	err = lib.Bind(map[string]any{"no_such_call": &version})
	if err == nil || !strings.Contains(err.Error(), "libmp3lame.so.0") ||
		!strings.Contains(err.Error(), "no_such_call") {
		t.Errorf("a call that it has not: %v", err)
	}
	_, err = Open("libnot-there", "libneither")
	if err == nil || !strings.Contains(err.Error(), "libnot-there") || !strings.Contains(err.Error(), "libneither") {
		t.Errorf("none is there: %v", err)
	}
}
