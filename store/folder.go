package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"parley/internal/durable"
	"parley/internal/layout"
)

const (
	databaseName = layout.Database
	lockName     = layout.Lock

	// probeBytes is what a folder must have room for before the box starts:
	// the first transactions, and the log lines of whoever reads the error.
	probeBytes = 256 << 10
)

// Lock takes the data folder for one serving process and returns what gives it
// back. It creates the folder where there is none. Commands that only use the
// database beside a running box do not take it. The lock is the kernel's
// (flock), so it ends with its process however that ends; the file stays.
// ErrLocked says which process holds it.
func Lock(dir string) (release func(), err error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, folderError(dir, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("data folder %s: %w (process %s); stop it, or give this one a folder of its own "+
				"with --data",
				dir, ErrLocked, readPID(f))
		}
		return nil, fmt.Errorf("data folder %s: locking %s: %w", dir, lockName, err)
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, folderError(dir, err)
	}
	return func() { f.Close() }, nil // closing the file gives the lock back
}

// Holder returns the number of the process that holds the lock of the data
// folder dir, as text, and whether there is one. It changes nothing.
func Holder(dir string) (pid string, held bool, err error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, folderError(dir, err)
	}
	defer f.Close() // which gives back what we may get now
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return readPID(f), true, nil
	}
	return "", false, err
}

// writePID writes this process's number into the lock file, for whoever finds
// it taken.
func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func readPID(f *os.File) string {
	var b [20]byte // an int64 in digits, and a newline
	n, _ := f.ReadAt(b[:], 0)
	if pid := strings.TrimSpace(string(b[:n])); pid != "" {
		return pid
	}
	return "unknown, it is just starting"
}

// Exists tells whether a box has its database in dir.
func Exists(dir string) bool { return holdsDatabase(dir) == nil }

// makeFolder creates the data folder where there is none. Others may pass
// through it to the certificate that clients have to trust, but not look into
// it: it holds what people said and the keys to it, all in files and folders
// that are their owner's alone.
func makeFolder(dir string) error {
	if dir == "" {
		return errors.New("the data folder needs a path: give one with --data")
	}
	info, err := os.Stat(dir)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("data folder %s: it is a file; give a folder with --data", dir)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return folderError(dir, err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	if err := os.Chmod(dir, layout.DataMode); err != nil {
		return folderError(dir, err)
	}
	return nil
}

// probeFolder writes and removes a small file, so that a full or read-only
// disk shows at start and not in the middle of the first conversation.
func probeFolder(dir string) error {
	f, err := durable.Create(filepath.Join(dir, "probe"), 0o600)
	if err != nil {
		return folderError(dir, err)
	}
	defer f.Discard()
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return folderError(dir, err)
	}
	return nil
}

// folderError says what is wrong with the data folder and what to do.
func folderError(dir string, err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("data folder %s: %w", dir, ErrFull)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf(
			"data folder %s: %w: its file system is mounted read-only; give a writable folder with --data", dir,
			ErrReadOnly)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf(
			"data folder %s: %w by this user; change its owner or mode, or give another folder with --data", dir,
			ErrReadOnly)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("data folder %s: a part of the path is a file; give a folder with --data", dir)
	}
	return fmt.Errorf("data folder %s: %w", dir, err)
}
