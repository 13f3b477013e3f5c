package box

import (
	"os"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/media"
)

// TestMain is also the processes that decode.
func TestMain(m *testing.M) {
	audio.Main()
	media.Main()
	os.Exit(m.Run())
}
