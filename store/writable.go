package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
)

// minFree is what the disk must have free for a conversation to be worth
// beginning: both sides of half an hour's talk, at 4 KB a second.
const minFree = 16 << 20

// Writable returns why nothing can be written at present, nil when something can.
// It looks at the file system, and where the last write had failed it tries
// another one, so that its answer is neither late nor old. The errors name no
// path: every client may read them.
func (s *Store) Writable(ctx context.Context) error {
	if err := s.w.checkMoved(); err != nil {
		return err
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(s.dir, &disk); err != nil {
		return fmt.Errorf("looking at the data folder: %w", err)
	}
	if err := checkFreeSpace(disk); err != nil {
		return err
	}
	if !s.w.failing.Load() {
		return nil
	}
	return s.change(ctx, "trying to write", func(ctx context.Context, c conn) error {
		// It has that number already; to set it is the smallest write there is.
		return execute(ctx, c, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	})
}

// checkFreeSpace returns why a file system has no room for a conversation, nil when it has.
func checkFreeSpace(disk unix.Statfs_t) error {
	if disk.Flags&unix.ST_RDONLY != 0 {
		return fmt.Errorf("%w: its file system is mounted read-only", ErrReadOnly)
	}
	if free := int64(disk.Bavail) * disk.Bsize; free < minFree {
		return fmt.Errorf("%w (%.1f MB are left, and %.1f MB are needed)", ErrFull, float64(free)/1e6,
			float64(minFree)/1e6)
	}
	return nil
}

// isDiskFault tells whether an error of SQLite's is the disk's, so that every other
// write will fail as well.
func isDiskFault(err error) bool {
	if errors.Is(err, ErrMoved) {
		return true
	}
	fault, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return false
	}
	switch fault.Code {
	case sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm,
		sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return true
	}
	return false
}
