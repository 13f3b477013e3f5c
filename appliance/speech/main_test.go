package speech

import (
	"os"
	"testing"

	"parley/appliance/audio"
)

// TestMain is the process that decodes MP3, too.
func TestMain(m *testing.M) {
	audio.Main()
	os.Exit(m.Run())
}
