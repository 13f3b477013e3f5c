package store

import (
	"fmt"
	"os"
)

// ErrMoved: what is written would go into a file that nobody finds again.
var ErrMoved = fmt.Errorf(
	"%w: its database was moved, deleted or replaced while it was in use; put it back, or start the box anew",
	ErrReadOnly)

// checkMoved remembers which file a path leads to, and returns what tells later
// whether it still does: ErrMoved where it does not. A file that is open can be
// written after it was deleted, without any error, until the process ends. SQLite
// looks for that itself (SQLITE_READONLY_DBMOVED), but not with a write-ahead log.
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
