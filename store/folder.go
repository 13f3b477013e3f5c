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

	// probeBytes must fit on the disk before the box starts: the first transactions, and
	// some log lines.
	probeBytes = 256 << 10
)

// Lock locks the data folder for one serving process, and creates the folder if it does
// not exist. Commands that only use the database of a running box do not lock it. The
// lock is the kernel's (flock): it ends with its process, and the file stays. ErrLocked
// names the process that holds it.
func Lock(dir string) (release func(), err error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
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
	return func() {
		// A child process that is being started has the file too, for a moment, and closing it here would leave
		// the lock to that child.
		unix.Flock(int(f.Fd()), unix.LOCK_UN)
		f.Close()
	}, nil
}

// Holder returns the id of the process that holds the lock of the data folder dir, as
// text, and whether there is one. It changes nothing.
func Holder(dir string) (pid string, held bool, err error) {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, folderError(dir, err)
	}
	defer f.Close() // which also releases the lock, if the next line gets it
	err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return readPID(f), true, nil
	}
	return "", false, err
}

// writePID writes the id of this process into the lock file, for [Holder] and ErrLocked.
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

// Exists reports whether a box has its database in dir.
func Exists(dir string) bool { return holdsDatabase(dir) == nil }

// makeFolder creates the data folder if it does not exist. Other users may pass through
// it to the certificate that clients must trust, but may not list it. Its files and
// subfolders, which hold conversations and keys, are for their owner only.
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

// probeFolder writes and removes a small file, so that a full or read-only disk is found
// at start and not in the middle of the first conversation.
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

// folderError says what is wrong with the data folder and what to do about it.
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
