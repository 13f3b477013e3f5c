package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A Stage is a temporary folder in which something is assembled, for [Replace] to put in
// place.
type Stage struct {
	Path string
	lock *os.File
}

// NewStage creates a folder in dir, for its owner only, whose name is prefix and a
// number. It removes such folders of dead processes.
func NewStage(dir, prefix string) (*Stage, error) {
	f, err := createLocked(dir, prefix, func() (*os.File, error) {
		path, err := os.MkdirTemp(dir, prefix+"*") // mode 0700
		if err != nil {
			return nil, err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = errRemoved
		}
		return f, err
	})
	if err != nil {
		return nil, err
	}
	return &Stage{Path: f.Name(), lock: f}, nil
}

// errRemoved says that another process, or another call of this one, has removed as stale
// what was just made and not locked yet.
var errRemoved = errors.New("it was removed before it was locked")

// Remove deletes the folder, with all that is at its path now.
func (s *Stage) Remove() error { return errors.Join(os.RemoveAll(s.Path), s.Release()) }

// Release leaves the folder where it is and unlocks it.
func (s *Stage) Release() error { return s.lock.Close() }

// createLocked creates a temporary file or folder and locks it (flock), which marks it as
// in use while this process lives. Before, it removes unlocked ones with that prefix. On
// a file system without locks nothing is removed.
func createLocked(dir, prefix string, create func() (*os.File, error)) (*os.File, error) {
	removeStale(dir, prefix)
	for range 100 { // two processes never collide that often
		f, err := create()
		if errors.Is(err, errRemoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		// Between the two calls, too, it may have been removed as stale.
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && isSameFile(f, f.Name()) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("making %s… in %s: every file made there goes away at once", prefix, dir)
}

// isSameFile reports whether the open file is still the one at path.
func isSameFile(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(open, there)
}

// removeStale removes the temporary files and folders with a prefix that no living
// process holds. What it cannot remove stays for the next time.
func removeStale(dir, prefix string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // creating the new one reports why
	}
	for _, e := range entries {
		number, matches := strings.CutPrefix(e.Name(), prefix)
		if !matches || number == "" || strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() && !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && isSameFile(f, path) {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}
