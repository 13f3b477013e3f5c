package decode

import (
	"os"
	"testing"

	"parley/appliance/audio"
)

// TestMain also runs as the process that decodes MP3, AAC and Vorbis.
func TestMain(m *testing.M) {
	audio.Main()
	os.Exit(m.Run())
}
