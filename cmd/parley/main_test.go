package main

import (
	"os"
	"testing"

	"parley/appliance/engine/onnx"
)

// TestMain is the process that holds espeak-ng, too.
func TestMain(m *testing.M) {
	onnx.BeEspeak()
	os.Exit(m.Run())
}
