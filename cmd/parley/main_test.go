package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
)

// TestMain is the process that holds espeak-ng, too, and the program itself
// where a test starts one.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	if os.Getenv("PARLEY_TEST_PROGRAM") != "" {
		main()
	}
	heedSignals()
	os.Exit(m.Run())
}

// heedSignals lets the programs that tests start have their signals, also where
// the tests themselves were started to ignore some (by nohup, say): what a
// process ignores its children do, what it handles they do not.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
