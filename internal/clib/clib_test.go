package clib

import (
	"strings"
	"testing"
)

func TestTheFirstLibraryThatIsThereIsOpened(t *testing.T) {
	lib, err := Open("libnot-there.so.9", "libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	var absolute func(int32) int32
	if err := lib.Bind(map[string]any{"abs": &absolute}); err != nil || absolute(-7) != 7 {
		t.Errorf("the absolute value of -7: %v", err)
	}
	err = lib.Bind(map[string]any{"no_such_call": &absolute})
	if err == nil || !strings.Contains(err.Error(), "libc.so.6") || !strings.Contains(err.Error(), "no_such_call") {
		t.Errorf("a call that it has not: %v", err)
	}
	_, err = Open("libnot-there.so.9", "libneither.so")
	if err == nil || !strings.Contains(err.Error(), "libnot-there.so.9") || !strings.Contains(err.Error(), "libneither") {
		t.Errorf("none is there: %v", err)
	}
}
