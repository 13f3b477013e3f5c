package appliance

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
)

// TestMain is the process that holds espeak-ng, too.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	if signal.Ignored(syscall.SIGINT) { // by who started the tests; what they start is to have it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	}
	os.Exit(m.Run())
}
