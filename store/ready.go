package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
)

// leastFree is what the disk must have free for a conversation to be worth
// beginning: both sides of half an hour's talk, at 4 KB a second.
const leastFree = 16 << 20

// Writable says what keeps anything from being written: nil when nothing does.
// It asks the file system, and where the last write had failed it tries one more,
// so that it tells a cause as soon as it is there and no longer than it is. The
// errors name no path: they are for everybody to read.
func (s *Store) Writable(ctx context.Context) error {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.dir, &disk); err != nil {
		return fmt.Errorf("looking at the data folder: %w", err)
	}
	if err := room(disk); err != nil {
		return err
	}
	if !s.w.failing.Load() {
		return nil
	}
	return s.change(ctx, "trying to write", func(ctx context.Context, c conn) error {
		// It has that number already; to set it is the smallest write there is.
		_, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
		return err
	})
}

// room says what a file system lacks.
func room(disk unix.Statfs_t) error {
	if disk.Flags&unix.ST_RDONLY != 0 {
		return fmt.Errorf("%w: its file system is mounted read-only", ErrReadOnly)
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < leastFree {
		return fmt.Errorf("%w (%.1f MB are left, and %.1f MB are needed)", ErrFull, float64(free)/1e6, float64(leastFree)/1e6)
	}
	return nil
}

// ofDisk tells whether an error of SQLite's will meet every write, whatever it
// says.
func ofDisk(err error) bool {
	fault, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return false
	}
	switch fault.Code {
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return true
	}
	return false
}
