// Package disk reports the size and free space of disks.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Spare is how many bytes must stay free on a disk after models or backups are written: a
// box with a full disk cannot store conversations.
const Spare = 256 << 20

// Free returns how many more bytes the disk of the folder dir can hold.
func Free(dir string) (int64, error) {
	st, err := statfs(dir)
	return int64(st.Bavail) * st.Bsize, err
}

// Size returns the size of the disk of the folder dir, in bytes.
func Size(dir string) (int64, error) {
	st, err := statfs(dir)
	return int64(st.Blocks) * st.Bsize, err
}

// Require returns an error if the disk of dir, which need not exist, cannot hold more bytes and
// Spare.
func Require(dir string, bytes int64) error {
	free, err := Free(Nearest(dir))
	if err != nil {
		return err
	}
	if need := bytes + Spare; free < need {
		return fmt.Errorf("the disk of %s has %d MB free, and %d MB are needed", dir, free/1e6, need/1e6)
	}
	return nil
}

// Nearest returns dir, or the nearest existing folder above it.
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

// Reason returns the file system's reason without the path, for messages that already
// name the file.
func Reason(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}
