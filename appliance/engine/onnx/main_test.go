package onnx

import (
	"os"
	"testing"

	"parley/appliance/engine/espeak"
)

// TestMain is the process that holds espeak-ng, too.
func TestMain(m *testing.M) {
	espeak.Main()
	os.Exit(m.Run())
}
