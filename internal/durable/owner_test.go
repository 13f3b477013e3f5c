package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// After sudo parley, the box can read and replace what the command wrote.
func TestWhatRootWritesBelongsToTheOwnerOfTheFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	const box = 12345
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, nil, 0o600))
	folder := t.TempDir()
	must(t, os.Chown(folder, box, box))
	must(t, os.MkdirAll(filepath.Join(folder, "pack", "inner"), 0o700))
	must(t, os.Symlink(outside, filepath.Join(folder, "link")))
	foreign := filepath.Join(folder, "pack", "foreign")
	must(t, os.WriteFile(foreign, nil, 0o600))
	must(t, os.Chown(foreign, 77, 77))
	one := filepath.Join(folder, "one")
	must(t, os.WriteFile(one, nil, 0o600))
	must(t, Inherit(one))
	owner := func(path string) uint32 {
		info, err := os.Lstat(path)
		must(t, err)
		return info.Sys().(*syscall.Stat_t).Uid
	}
	if owner(one) != box || owner(filepath.Join(folder, "pack")) != 0 {
		t.Errorf("Inherit: the file belongs to %d, another to %d", owner(one), owner(filepath.Join(folder, "pack")))
	}
	must(t, InheritAll(folder))
	for path, want := range map[string]uint32{
		filepath.Join(folder, "pack", "inner"): box,
		filepath.Join(folder, "link"):          box,
		foreign:                                77,
		outside:                                0,
	} {
		if got := owner(path); got != want {
			t.Errorf("InheritAll: %s belongs to %d, not %d", path, got, want)
		}
	}
	must(t, InheritAll(filepath.Join(folder, "missing")))
}
