package decode

import (
	"os"
	"testing"

	"parley/appliance/audio"
)

// TestMain is the process that decodes MP3, AAC and Vorbis, too.
func TestMain(m *testing.M) {
	audio.Main()
	os.Exit(m.Run())
}
