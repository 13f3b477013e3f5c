// Package durable writes files so that after a crash or power failure each of them is
// whole: as it was before, or as it was to become.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile replaces the content of the file at path. It sets the mode whatever the
// umask. After an error the file is as it was, and no temporary file is left.
func WriteFile(path string, text []byte, mode fs.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}

// A File is a file that is being written. Until it is committed it lies in the folder of
// its path, under a temporary name that begins with a dot.
type File struct {
	file *os.File
	data *Writer
	path string
	done bool
}

// Create begins the file that is to be at path. It removes what dead processes left of
// the same file. The caller ends it with Commit or Discard.
func Create(path string, mode fs.FileMode) (*File, error) {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)+"-"
	f, err := createLocked(dir, prefix, func() (*os.File, error) { return os.CreateTemp(dir, prefix+"*") })
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(mode); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &File{file: f, data: NewWriter(f), path: path}, nil
}

// Write appends p.
func (f *File) Write(p []byte) (int, error) { return f.data.Write(p) }

// Name returns the path of the file until it is committed.
func (f *File) Name() string { return f.file.Name() }

// Sync writes the file to the disk.
func (f *File) Sync() error { return f.file.Sync() }

// Commit syncs the file and moves it to its path. After an error nothing has changed
// there, unless only syncing the folder failed.
func (f *File) Commit() error {
	defer f.Discard()
	if err := f.Sync(); err != nil {
		return err
	}
	// Still open and so locked: removeStale of another process does not remove it.
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	return errors.Join(f.file.Close(), SyncFolder(filepath.Dir(f.path)))
}

// CommitNew is Commit for a file that must not replace another: if there is a file at its
// path the error is fs.ErrExist, and that file stays.
func (f *File) CommitNew() error {
	defer f.Discard()
	if err := f.Sync(); err != nil {
		return err
	}
	err := unix.Renameat2(unix.AT_FDCWD, f.Name(), unix.AT_FDCWD, f.path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = os.Link(f.Name(), f.path) // a file system without that; Discard removes the other name
	} else if err == nil {
		f.done = true
		err = f.file.Close()
	}
	if err != nil {
		return &os.PathError{Op: "create", Path: f.path, Err: err}
	}
	return SyncFolder(filepath.Dir(f.path))
}

// Discard gives the file up. After Commit it does nothing, so that it can be deferred.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		_ = os.Remove(f.Name())
		_ = f.file.Close()
	}
}

// syncEvery is after how many bytes a [Writer] waits for the disk: less than a second
// with a slow one, 10 MB/s.
const syncEvery = 8 << 20

// A Writer writes a large file and waits for the disk regularly. Otherwise a gigabyte
// gathers in memory, and the sync at the end takes minutes that show no progress and
// cannot be cancelled.
type Writer struct {
	file     *os.File
	unsynced int // bytes since the last sync
}

// NewWriter returns a Writer to f.
func NewWriter(f *os.File) *Writer { return &Writer{file: f} }

// Write appends p.
func (w *Writer) Write(p []byte) (int, error) {
	n, err := w.file.Write(p)
	if w.unsynced += n; err == nil && w.unsynced >= syncEvery {
		w.unsynced = 0
		err = unix.Fdatasync(int(w.file.Fd()))
	}
	return n, err
}

// SyncFolder syncs the folder's entries: new, renamed and removed files.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Replace moves the folder to target in one step, so that target always exists, and the
// old target to the path of folder. Both must be on one disk; the caller syncs the
// folders around them. After an error nothing has changed.
func Replace(folder, target string) error {
	err := os.Rename(folder, target)
	if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	if unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	// On a file system without exchange: two steps, undone if the second fails.
	old := folder + ".old"
	if err := errors.Join(os.RemoveAll(old), os.Rename(target, old)); err != nil {
		return err
	}
	if err := os.Rename(folder, target); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	return os.Rename(old, folder)
}
