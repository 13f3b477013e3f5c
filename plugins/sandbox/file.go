package sandbox

import (
	"io"
	"io/fs"
	"os"

	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"
)

// file is an open file or folder of an instance. Each read and write is one system call on
// a file, and none blocks.
type file struct {
	sys.File // for reading, seeking and listing
	opened   *os.File
	folder   *folder
	name     string
	dir      bool
	append   bool
	closed   bool
}

// newFile wraps a file that was opened under name.
func newFile(in *folder, name string, opened *os.File, dir, append bool) (*file, sys.Errno) {
	reading, e := (&sysfs.AdaptFS{FS: &openedFS{root: in.root, first: opened}}).OpenFile(name, sys.O_RDONLY, 0)
	if e != 0 {
		return nil, e
	}
	return &file{
		File:   reading,
		opened: opened,
		folder: in,
		name:   name,
		dir:    dir,
		append: append,
	}, 0
}

// openedFS returns a file that is already open at the first call. After that it opens the
// folder again, for reading it from the beginning.
type openedFS struct {
	root  *os.Root
	first *os.File
}

func (o *openedFS) Open(name string) (fs.File, error) {
	if first := o.first; first != nil {
		o.first = nil
		return first, nil
	}
	return o.root.OpenFile(name, unix.O_DIRECTORY, 0)
}

func (f *file) Dev() (uint64, sys.Errno) {
	st, e := f.Stat()
	return st.Dev, e
}

func (f *file) Ino() (wasys.Inode, sys.Errno) {
	st, e := f.Stat()
	return st.Ino, e
}

func (f *file) Stat() (wasys.Stat_t, sys.Errno) { return stat(f.opened.Stat()) }
func (f *file) IsDir() (bool, sys.Errno)        { return f.dir, 0 }
func (f *file) IsAppend() bool                  { return f.append }

// SetAppend fails if it would have to reopen the file.
func (f *file) SetAppend(enable bool) sys.Errno {
	if enable == f.append {
		return 0
	}
	return sys.ENOTSUP
}

// countWrite counts n bytes up to the position end, and fails beyond the limits.
func (f *file) countWrite(n int, end int64) sys.Errno {
	switch {
	case f.dir:
		return sys.EISDIR
	case !f.folder.write:
		return sys.EBADF
	case end < 0 || end > maxFile || f.folder.folders.written+int64(n) > maxWritten:
		return sys.EIO // as for a full disk, for which WASI has no number here
	}
	f.folder.folders.written += int64(n)
	return 0
}

// Read and Pread fail when the call is over, because one WASI call may read a file into the
// same megabytes a million times.
func (f *file) Read(b []byte) (int, sys.Errno) {
	if f.folder.folders.ended() {
		return 0, sys.EINTR
	}
	return f.File.Read(b)
}

func (f *file) Pread(b []byte, at int64) (int, sys.Errno) {
	if f.folder.folders.ended() {
		return 0, sys.EINTR
	}
	return f.File.Pread(b, at)
}

func (f *file) Write(b []byte) (int, sys.Errno) {
	at, err := f.opened.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, errno(err)
	}
	if e := f.countWrite(len(b), at+int64(len(b))); e != 0 {
		return 0, e
	}
	n, err := f.opened.Write(b)
	return n, errno(err)
}

func (f *file) Pwrite(b []byte, at int64) (int, sys.Errno) {
	if at < 0 {
		return 0, sys.EINVAL
	}
	if e := f.countWrite(len(b), at+int64(len(b))); e != 0 {
		return 0, e
	}
	n, err := f.opened.WriteAt(b, at)
	return n, errno(err)
}

func (f *file) Truncate(size int64) sys.Errno {
	if size < 0 {
		return sys.EINVAL
	}
	if e := f.countWrite(0, size); e != 0 {
		return e
	}
	return errno(f.opened.Truncate(size))
}

func (f *file) Sync() sys.Errno     { return f.flush() }
func (f *file) Datasync() sys.Errno { return f.flush() }

// flush does not sync: a plugin that syncs all the time would slow down the disk for the
// whole box.
func (f *file) flush() sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	return 0
}

func (f *file) Utimens(atim, mtim int64) sys.Errno { return f.folder.Utimens(f.name, atim, mtim) }

func (f *file) Close() sys.Errno {
	if f.closed {
		return sys.EBADF
	}
	f.closed = true
	f.folder.folders.open--
	return f.File.Close()
}
