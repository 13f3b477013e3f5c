package main

import (
	"os"
	"testing"

	"parley/appliance/engine/espeak"
)

// TestMain is the process that holds espeak-ng, too, and the program itself
// where a test starts one.
func TestMain(m *testing.M) {
	espeak.Main()
	if os.Getenv("PARLEY_TEST_PROGRAM") != "" {
		main()
	}
	os.Exit(m.Run())
}
