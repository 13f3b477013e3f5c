package packs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"parley/internal/disk"
	"parley/internal/durable"
)

// ErrLocked means that another process is changing the packs in a folder.
type ErrLocked struct{ Dir, By string }

func (e *ErrLocked) Error() string {
	return fmt.Sprintf("%s is changing the packs in %s: wait until it is done", e.By, e.Dir)
}

// lock locks dir for changes by this process, until the returned function is called or
// the process ends. The error is an *ErrLocked if another process holds the lock.
func lock(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Join(dir, stageName), 0o755); err != nil {
		return nil, fmt.Errorf("creating the packs folder: %w: choose a writable folder with --packs or "+
			"PARLEY_PACKS", err)
	}
	path := filepath.Join(dir, stageName, "lock")
	// Root may do this in the folder of the service, whose links must not lead root elsewhere.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the packs folder: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		text, _ := os.ReadFile(path)
		f.Close()
		by := "another process"
		if pid := strings.TrimSpace(string(text)); pid != "" {
			by += " (" + pid + ")"
		}
		return nil, &ErrLocked{dir, by}
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() {
		// What root has fetched the box replaces later; a pack that stays root's is complete.
		_ = durable.InheritAll(dir)
		f.Close()
	}, nil
}

// checkSpace returns an error if dir has no space for need more bytes.
func checkSpace(dir string, need int64) error {
	free, err := disk.Free(dir)
	if err != nil {
		return err
	}
	if need += disk.Spare; free < need {
		return fmt.Errorf("%s has %d MB free, and %d MB are needed: free some space, or choose another folder "+
			"with --packs or PARLEY_PACKS", dir, free/1e6, need/1e6)
	}
	return nil
}
