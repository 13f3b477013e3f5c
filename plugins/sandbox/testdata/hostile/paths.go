package main

import (
	"fmt"
	"unsafe"
)

// All WASI calls that take a path, without the checks of a library.

type fd = int32
type ptr = unsafe.Pointer

//go:wasmimport wasi_snapshot_preview1 path_open
func pathOpen(dir fd, dirflags int32, path ptr, n uint32, oflags int32, base, inheriting uint64, fdflags int32,
	opened ptr) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_get
func pathStat(dir fd, flags uint32, path ptr, n uint32, buf ptr) uint32

//go:wasmimport wasi_snapshot_preview1 path_filestat_set_times
func pathTimes(dir fd, flags uint32, path ptr, n uint32, a, m uint64, fst uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_readlink
func pathReadlink(dir fd, path ptr, n uint32, buf ptr, m uint32, used ptr) uint32

//go:wasmimport wasi_snapshot_preview1 path_create_directory
func pathMkdir(dir fd, path ptr, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_remove_directory
func pathRmdir(dir fd, path ptr, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_unlink_file
func pathUnlink(dir fd, path ptr, n uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_rename
func pathRename(dir fd, path ptr, n uint32, to fd, path2 ptr, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_link
func pathLink(dir fd, flags int32, path ptr, n uint32, to fd, path2 ptr, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 path_symlink
func pathSymlink(old ptr, n uint32, dir fd, path2 ptr, n2 uint32) uint32

//go:wasmimport wasi_snapshot_preview1 fd_read
func fdRead(f fd, iovs ptr, n uint32, read ptr) uint32

//go:wasmimport wasi_snapshot_preview1 fd_close
func fdClose(f fd) uint32

// everyCall outputs which calls succeeded, and the beginning of each file that they opened.
func everyCall(path string) {
	p, n := at(path)
	q, m := at("copy")
	var buf [256]byte
	b := ptr(&buf)
	var used uint32
	for dir := fd(0); dir < 8; dir++ {
		for name, errno := range map[string]uint32{
			"path_filestat_get": pathStat(dir, 1, p, n, b), "path_filestat_set_times": pathTimes(dir, 1, p, n, 0, 0, 5),
			"path_readlink": pathReadlink(dir, p, n, b, 256, ptr(&used)), "path_create_directory": pathMkdir(dir, p, n),
			"path_remove_directory": pathRmdir(dir, p, n), "path_unlink_file": pathUnlink(dir, p, n),
			"path_rename": pathRename(dir, p, n, dir, q, m), "path_rename_to": pathRename(dir, q, m, dir, p, n),
			"path_link": pathLink(dir, 1, p, n, dir, q, m), "path_symlink": pathSymlink(p, n, dir, q, m),
		} {
			if errno == 0 {
				fmt.Printf("%s %d %s\n", name, dir, path)
			}
		}
		for _, how := range []int32{0, 1, 2, 4, 8, 9} { // plain, create, directory, exclusive, truncate
			var opened fd
			for _, follow := range []int32{0, 1} {
				if pathOpen(dir, follow, p, n, how, 1<<29-1, 1<<29-1, 0, ptr(&opened)) != 0 {
					continue
				}
				text := make([]byte, 40)
				iovec := [2]uint32{uint32(uintptr(ptr(unsafe.SliceData(text)))), uint32(len(text))}
				errno := fdRead(opened, ptr(&iovec), 1, ptr(&used))
				fmt.Printf("path_open %d %d %d %s: %d %q\n", dir, how, follow, path, errno, text[:used])
				fdClose(opened)
			}
		}
	}
}
