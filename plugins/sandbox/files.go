package sandbox

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	wasys "github.com/tetratelabs/wazero/sys"
	"golang.org/x/sys/unix"

	"parley/plugins/manifest"
)

const (
	// maxOpen bounds the open files of an instance. The whole box may have a thousand or
	// more.
	maxOpen = 64
	// maxFile bounds the size of a file that a plugin writes, and maxWritten the bytes that
	// an instance writes, because it is the box's disk.
	maxFile    = 256 << 20
	maxWritten = 256 << 20
)

// folder is a granted folder on the box. An instance reaches only what lies beneath it
// (os.Root checks each access), and of that only files and folders, no pipes or devices.
type folder struct {
	sys.UnimplementedFS
	root    *os.Root
	write   bool
	folders *folders
}

// folders are the folders of one instance.
type folders struct {
	list    []*folder
	open    int
	written int64
	ended   func() bool // reports whether the call is over
}

// openFolders opens the granted folders. The error names a missing folder as the plugin
// sees it.
func openFolders(granted []manifest.File) (all *folders, config wazero.FSConfig, err error) {
	all = &folders{}
	config = wazero.NewFSConfig()
	for _, g := range granted {
		root, err := os.OpenRoot(g.Path)
		if err != nil {
			all.close()
			return nil, nil, fault(Unready, "the granted folder %s cannot be opened: %s", g.As, reason(err))
		}
		f := &folder{root: root, write: g.Mode == manifest.Write, folders: all}
		all.list = append(all.list, f)
		config = config.(sysfs.FSConfig).WithSysFSMount(f, g.As)
	}
	return all, config, nil
}

func (f *folders) close() {
	for _, one := range f.list {
		_ = one.root.Close()
	}
}

// reason returns an error of the system without its path.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// errno converts an error for the module. What os.Root refuses is EPERM.
func errno(err error) sys.Errno {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, io.EOF):
		return 0
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return sys.UnwrapOSError(number)
	}
	return sys.EPERM
}

// maxPath is PATH_MAX of Linux. Splitting a path of 64 MiB would take half a gigabyte.
const maxPath = 4096

// cleanPath converts a path of the module for os.Root. For one that is too long it returns
// a name that the system refuses as too long.
func cleanPath(name string) string {
	if len(name) >= maxPath {
		return strings.Repeat("x", maxPath)
	}
	name = path.Clean(strings.TrimPrefix(name, "/"))
	if name == "" {
		return "."
	}
	return name
}

func (f *folder) OpenFile(name string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	if f.folders.open >= maxOpen {
		return nil, sys.EAGAIN
	}
	how := unix.O_NONBLOCK | unix.O_NOCTTY // opening a pipe must not block
	switch flag & (sys.O_RDONLY | sys.O_RDWR | sys.O_WRONLY) {
	case sys.O_RDWR:
		how |= os.O_RDWR
	case sys.O_WRONLY:
		how |= os.O_WRONLY
	}
	for _, o := range []struct {
		flag sys.Oflag
		how  int
	}{{sys.O_APPEND, os.O_APPEND}, {sys.O_CREAT, os.O_CREATE}, {sys.O_EXCL, os.O_EXCL}, {sys.O_TRUNC, os.O_TRUNC},
		{sys.O_DIRECTORY, unix.O_DIRECTORY}} {
		if flag&o.flag != 0 {
			how |= o.how
		}
	}
	if !f.write && how&(os.O_RDWR|os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0 {
		return nil, sys.EROFS
	}
	if flag&sys.O_NOFOLLOW != 0 {
		if info, err := f.root.Lstat(cleanPath(name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, sys.ELOOP
		}
	}
	// The file is checked before it is truncated: it may be a device.
	opened, err := f.root.OpenFile(cleanPath(name), how&^os.O_TRUNC, perm.Perm())
	if err != nil {
		return nil, errno(err)
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = syscall.EPERM
	}
	if err == nil && how&os.O_TRUNC != 0 && info.Mode().IsRegular() {
		err = opened.Truncate(0)
	}
	if err != nil {
		_ = opened.Close()
		return nil, errno(err)
	}
	one, e := newFile(f, cleanPath(name), opened, info.IsDir(), flag&sys.O_APPEND != 0)
	if e != 0 {
		_ = opened.Close()
		return nil, e
	}
	f.folders.open++
	return one, 0
}

func (f *folder) Stat(name string) (wasys.Stat_t, sys.Errno) {
	return stat(f.root.Stat(cleanPath(name)))
}

func (f *folder) Lstat(name string) (wasys.Stat_t, sys.Errno) {
	return stat(f.root.Lstat(cleanPath(name)))
}

func stat(info fs.FileInfo, err error) (wasys.Stat_t, sys.Errno) {
	if err != nil {
		return wasys.Stat_t{}, errno(err)
	}
	return wasys.NewStat_t(info), 0
}

func (f *folder) Readlink(name string) (string, sys.Errno) {
	to, err := f.root.Readlink(cleanPath(name))
	return to, errno(err)
}

// change runs a change if the folder is writable.
func (f *folder) change(run func() error) sys.Errno {
	if !f.write {
		return sys.EROFS
	}
	return errno(run())
}

func (f *folder) Mkdir(name string, perm fs.FileMode) sys.Errno {
	return f.change(func() error { return f.root.Mkdir(cleanPath(name), perm.Perm()) })
}

func (f *folder) Rename(from, to string) sys.Errno {
	return f.change(func() error { return f.root.Rename(cleanPath(from), cleanPath(to)) })
}

func (f *folder) Rmdir(name string) sys.Errno {
	return f.change(func() error { return f.remove(name, true) })
}

func (f *folder) Unlink(name string) sys.Errno {
	return f.change(func() error { return f.remove(name, false) })
}

func (f *folder) remove(name string, dir bool) error {
	info, err := f.root.Lstat(cleanPath(name))
	switch {
	case err != nil:
		return err
	case dir && !info.IsDir():
		return syscall.ENOTDIR
	case !dir && info.IsDir():
		return syscall.EISDIR
	}
	return f.root.Remove(cleanPath(name))
}

func (f *folder) Utimens(name string, atim, mtim int64) sys.Errno {
	return f.change(func() error { return f.root.Chtimes(cleanPath(name), timeOf(atim), timeOf(mtim)) })
}

// timeOf converts a time of WASI. UTIME_OMIT becomes the zero time, which Chtimes ignores.
func timeOf(ns int64) time.Time {
	if ns == sys.UTIME_OMIT {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
