package main

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
)

// TestMain is also the child process that runs eSpeak NG, and the program itself if a
// test starts it.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	media.Main()
	if os.Getenv("PARLEY_TEST_PROGRAM") != "" {
		main()
	}
	heedSignals()
	os.Exit(m.Run())
}

// heedSignals handles signals that the tests were started to ignore, as under nohup:
// child processes inherit ignored signals, but not handled ones.
func heedSignals() {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}
