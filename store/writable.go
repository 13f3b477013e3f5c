package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
)

// minFree is how much space a conversation must find: both sides of half an hour's talk,
// at 4 KB a second.
const minFree = 16 << 20

// Writable returns why nothing can be written at present, or nil. It checks the file
// system and, if the last write failed, tries another write, so that its answer is
// current. The errors name no path, since every client may read them.
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
		// The value does not change; this is the smallest possible write.
		return execute(ctx, c, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID))
	})
}

// checkFreeSpace returns why a file system has no space for a conversation, or nil.
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

// isDiskFault reports whether err comes from the disk, so that every other write will
// fail as well.
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
