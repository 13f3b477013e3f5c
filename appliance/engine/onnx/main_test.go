package onnx

import (
	"fmt"
	"os"
	"testing"

	"parley/appliance/engine/espeak"
)

// TestMain is the process that holds espeak-ng, too.
func TestMain(m *testing.M) {
	espeak.Main()
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the engines:", err)
		code = 1
	}
	os.Exit(code)
}
