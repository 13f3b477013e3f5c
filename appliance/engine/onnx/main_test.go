package onnx

import (
	"os"
	"testing"
)

// TestMain is the process that holds espeak-ng, too.
func TestMain(m *testing.M) {
	BeEspeak()
	os.Exit(m.Run())
}
