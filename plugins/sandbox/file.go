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

// file is an open file or folder of an instance. Every read and write is one
// call of the system on a file, and none waits for anything else.
type file struct {
	sys.File // reads, seeks and lists
	opened   *os.File
	folder   *folder
	name     string
	dir      bool
	append   bool
	closed   bool
}

// newFile is what was opened under name.
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

// openedFS gives what was opened already, and opens a folder anew that is read
// src its beginning again.
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

// SetAppend would have to open the file anew.
func (f *file) SetAppend(enable bool) sys.Errno {
	if enable == f.append {
		return 0
	}
	return sys.ENOTSUP
}

// countWrite says whether n more bytes up to end may be written.
func (f *file) countWrite(n int, end int64) sys.Errno {
	switch {
	case f.dir:
		return sys.EISDIR
	case !f.folder.write:
		return sys.EBADF
	case end < 0 || end > maxFile || f.folder.folders.written+int64(n) > maxWritten:
		return sys.EIO // as of a disk that is full: WASI has no number for that here
	}
	f.folder.folders.written += int64(n)
	return 0
}

// Read and Pread fail where the call is over: one call of WASI may read a file into
// the same megabytes a million times.
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

// flush leaves it to the system when what was written reaches the disk: a
// plugin that insists could slow down all that the box itself writes.
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
