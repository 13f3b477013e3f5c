package media

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the process that becomes ffmpeg.
func TestMain(m *testing.M) {
	Main()
	goleak.VerifyTestMain(m)
}
