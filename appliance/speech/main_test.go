package speech

import (
	"os"
	"testing"

	"parley/appliance/audio"
)

// TestMain is also the process that decodes MP3.
func TestMain(m *testing.M) {
	audio.Main()
	os.Exit(m.Run())
}
