// Package disk says how much room a disk has.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Spare is how many bytes a disk must have left when models or backups have
// been written: a box that fills its disk cannot keep its conversations.
const Spare = 256 << 20

// Free is how many bytes more the disk of the folder dir can hold.
func Free(dir string) (int64, error) {
	st, err := statfs(dir)
	return int64(st.Bavail) * st.Bsize, err
}

// Size is how many bytes the disk of the folder dir holds in all.
func Size(dir string) (int64, error) {
	st, err := statfs(dir)
	return int64(st.Blocks) * st.Bsize, err
}

// Nearest is dir, or the nearest folder above it that is there.
func Nearest(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func statfs(dir string) (st unix.Statfs_t, err error) {
	if err := unix.Statfs(dir, &st); err != nil {
		return unix.Statfs_t{}, fmt.Errorf("asking for the free space of %s: %w", dir, err)
	}
	return st, nil
}

// Reason returns what the file system said was wrong, without the path, for a
// message that names the file already.
func Reason(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}
