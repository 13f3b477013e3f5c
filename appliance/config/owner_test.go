package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Settings choose what root loads and writes.
func TestRootFollowsNoSettingsThatAnotherUserPutIntoTheWorkingFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, FileName)
	if err := os.WriteFile(file, []byte("listen: 127.0.0.1:4711\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		uid     int
		sources Sources
		refused bool
	}{
		"of root":           {0, Sources{Dir: dir}, false},
		"of another":        {1234, Sources{Dir: dir}, true},
		"of a third":        {1234, Sources{Dir: dir, Environ: []string{"SUDO_UID=1235"}}, true},
		"of who calls sudo": {1234, Sources{Dir: dir, Environ: []string{"SUDO_UID=1234"}}, false},
		"by name":           {1234, Sources{Dir: dir, File: file}, false},
		"in the data folder": {1234, Sources{Dir: dir, Flags: map[string]string{"data": dir}},
			false},
	} {
		if err := os.Chown(file, c.uid, c.uid); err != nil {
			t.Fatal(err)
		}
		c.sources.Home = home
		got, err := Load(c.sources)
		refused := err != nil && strings.Contains(err.Error(), "belongs to user 1234") &&
			strings.Contains(err.Error(), "--config")
		if refused != c.refused || !refused && (err != nil || got.Listen != "127.0.0.1:4711") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
