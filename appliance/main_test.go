package appliance

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
)

// TestMain also runs as the processes of eSpeak NG and of the decoders.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	media.Main()
	if signal.Ignored(syscall.SIGINT) { // by the parent process; the children of the tests need it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	}
	os.Exit(m.Run())
}
