package media

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the process that becomes ffmpeg.
func TestMain(m *testing.M) {
	Main()
	goleak.VerifyTestMain(m)
}

// made makes a file with ffmpeg; OUT in args is its path.
func made(t *testing.T, name, args string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	fields := strings.Fields("-nostdin -hide_banner -loglevel error -y " + args)
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, "OUT", path)
	}
	if out, err := exec.Command("ffmpeg", fields...).CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %q: %v\n%s", fields, err, out)
	}
	return path
}

// written writes a file.
func written(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
