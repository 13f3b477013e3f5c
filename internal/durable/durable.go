// Package durable writes files so that after a crash or a pulled plug each of
// them is whole: as it was before, or as it was to become.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile makes the file at path hold text. Its mode is set whatever the
// umask. After an error the file is as it was, and nothing is left beside it.
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

// A File is a file in the making. It lies beside the place where it is to be,
// under a name of its own that begins with a dot, until it is committed.
type File struct {
	file *os.File
	data *Writer
	path string
	done bool
}

// Create begins the file that is to be at path. What processes that died left
// of the same file is removed. The caller ends it with Commit or Discard.
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

// Name is the path at which the file lies until it is committed.
func (f *File) Name() string { return f.file.Name() }

// Sync has the disk keep what is written.
func (f *File) Sync() error { return f.file.Sync() }

// Commit has the disk keep the file and puts it in its place. After an error
// nothing has changed there, unless only the folder could not be synced.
func (f *File) Commit() error {
	defer f.Discard()
	if err := f.Sync(); err != nil {
		return err
	}
	// Open still, and so locked: nobody takes it for stale on its way.
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	f.done = true
	return errors.Join(f.file.Close(), SyncFolder(filepath.Dir(f.path)))
}

// CommitNew is Commit for a file that is not to replace another: where one lies
// in its place the error is fs.ErrExist, and that one stays.
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

// Discard gives the file up. After Commit it does nothing, so that it can be
// deferred.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		_ = os.Remove(f.Name())
		_ = f.file.Close()
	}
}

// syncEvery is after how many bytes a [Writer] waits for the disk: less than a
// second of a slow one, 10 MB/s.
const syncEvery = 8 << 20

// A Writer writes a large file and waits for the disk every so often. Otherwise
// a gigabyte gathers in memory: its writer seems to be done at once, and then
// waits for minutes at the end, where nothing can be told or called off.
type Writer struct {
	file     *os.File
	unsynced int // bytes that the disk need not have yet
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

// SyncFolder has the disk keep the folder's own entries: files that are new in
// it, or renamed, or removed.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Replace puts the folder where target is, in one step, so that there is no
// moment without one. What was there comes to where folder was. Both must lie on
// one disk, and the caller syncs the folders around them. After an error nothing
// has changed.
func Replace(folder, target string) error {
	err := os.Rename(folder, target)
	if err == nil || !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	if unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, target, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	// A file system that cannot exchange: two steps, and back when the second
	// fails.
	old := folder + ".old"
	if err := errors.Join(os.RemoveAll(old), os.Rename(target, old)); err != nil {
		return err
	}
	if err := os.Rename(folder, target); err != nil {
		return errors.Join(err, os.Rename(old, target))
	}
	return os.Rename(old, folder)
}
