package onnx

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"parley/appliance/engine/espeak"
)

// TestMain is also the process that holds espeak-ng.
func TestMain(m *testing.M) {
	espeak.Main()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if shared.cacheDir, err = os.MkdirTemp("", "parley-voices-"); err != nil {
		fmt.Fprintln(os.Stderr, "a folder for what loading voices finds out:", err)
		return 1
	}
	code := m.Run()
	if err := errors.Join(shared.close(), os.RemoveAll(shared.cacheDir)); err != nil {
		fmt.Fprintln(os.Stderr, "closing the engines:", err)
		code = 1
	}
	return code
}
