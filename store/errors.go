package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// The kinds of errors. Every error of this package wraps one of these or the cause of
// the caller's context, or is a fault of the disk.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("conflicts with what is stored")
	ErrNotAllowed = errors.New("the schema does not allow that value")
	ErrActive     = errors.New("a chat of this group is still active")
	// ErrLastOperator means that the key is the only operator's key without an end.
	ErrLastOperator = errors.New("it is the last operator key that never expires")
	// ErrQueueFull means that too many analysis jobs of the account wait.
	ErrQueueFull = errors.New("too many analysis jobs of this account wait or run")
	ErrClosed    = errors.New("the store is closed")
	ErrBusy      = errors.New("another process holds the database for too long; try again")
	ErrFull      = errors.New("the disk that holds the data folder is full; free some space")
	ErrReadOnly  = errors.New("the data folder cannot be written")
	ErrDamaged   = errors.New("the database is damaged; restore a backup")
	ErrOlder     = errors.New("the database was written by an older Parley")
	ErrNewer     = errors.New("the database was written by a newer Parley")
	ErrLocked    = errors.New("the data folder is in use by another Parley")
)

// explain wraps err with what was being done, and maps SQLite's result codes to kinds. It
// returns nil for nil.
func explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	var fault sqlite3.Error
	if !errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if kind := kindOf(fault); kind != nil {
		return fmt.Errorf("%s: %w (%v)", doing, kind, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// kindOf returns the kind of a SQLite fault (https://www.sqlite.org/rescode.html), or nil
// for faults that only a programming error or the disk causes.
func kindOf(fault sqlite3.Error) error {
	switch fault.Code {
	case sqlite3.ErrFull:
		return ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return ErrReadOnly
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return ErrDamaged
	case sqlite3.ErrError:
		if strings.HasSuffix(fault.Error(), "unsupported file format") { // which has no result code
			return ErrDamaged
		}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return ErrBusy
	case sqlite3.ErrConstraint:
		if fault.ExtendedCode == sqlite3.ErrConstraintCheck {
			return ErrNotAllowed // each check is named after its field
		}
		return ErrConflict
	}
	return nil
}
