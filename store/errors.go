package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// The kinds of failure. Every error of this package wraps one of these or the
// caller's context error, or is a fault of the disk.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("conflicts with what is stored")
	ErrNotAllowed = errors.New("the schema does not allow that value")
	ErrActive     = errors.New("a chat of this group is still active")
	// ErrLastOperator: without that key no operator's is left that lasts.
	ErrLastOperator = errors.New("it is the last key of an operator that has no end")
	ErrClosed       = errors.New("the store is closed")
	ErrBusy         = errors.New("another process holds the database for too long; try again")
	ErrFull         = errors.New("the disk that holds the data folder is full; free some space")
	ErrReadOnly     = errors.New("the data folder cannot be written")
	ErrDamaged      = errors.New("the database is damaged; restore a backup")
	ErrOlder        = errors.New("the database was written by an older Parley")
	ErrNewer        = errors.New("the database was written by a newer Parley")
	ErrLocked       = errors.New("the data folder is in use by another Parley")
)

// explain wraps err with what was being done and gives SQLite's result codes
// their kind. A nil error stays nil.
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

// kindOf names the kind of a SQLite fault (https://www.sqlite.org/rescode.html),
// nil for those that only a programmer or a disk can cause.
func kindOf(fault sqlite3.Error) error {
	switch fault.Code {
	case sqlite3.ErrFull:
		return ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm:
		return ErrReadOnly
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		return ErrDamaged
	case sqlite3.ErrError:
		if strings.HasSuffix(fault.Error(), "unsupported file format") { // it has no code of its own
			return ErrDamaged
		}
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return ErrBusy
	case sqlite3.ErrConstraint:
		if fault.ExtendedCode == sqlite3.ErrConstraintCheck {
			return ErrNotAllowed // the schema names its checks after the field they guard
		}
		return ErrConflict
	}
	return nil
}
