package store

import (
	"fmt"
	"os"
)

// ErrMoved means that the database file is not at its path any more, so that what is
// written would be lost.
var ErrMoved = fmt.Errorf(
	"%w: its database was moved, deleted or replaced while it was in use; put it back, or start the box anew",
	ErrReadOnly)

// moveCheck returns a function that returns ErrMoved once another file, or none, is at
// path. An open file can be written after it was deleted, without an error, until the
// process ends. SQLite detects that itself (SQLITE_READONLY_DBMOVED), but not with a
// write-ahead log.
func moveCheck(path string) (func() error, error) {
	opened, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return func() error {
		if now, err := os.Stat(path); err != nil || !os.SameFile(opened, now) {
			return ErrMoved
		}
		return nil
	}, nil
}
