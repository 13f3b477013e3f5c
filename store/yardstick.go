package store

import (
	"context"
	"database/sql"
	"errors"
)

// Yardstick reads and writes what the Store does, by the same statements and as
// durably, but straight: each write is a transaction of its own on a connection
// that the callers take in turn, each read is asked as database/sql asks it.
// What the Store's way costs, or saves, is measured against it. It has no use
// but that.
type Yardstick struct {
	db    *sql.DB
	reads *Store
}

// OpenYardstick opens the database in dir, which a Store has made.
func OpenYardstick(dir string) *Yardstick {
	read := openReaders(dir)
	read.hurried = true
	return &Yardstick{connect(dir, "", 1), &Store{dir: dir, read: read}}
}

// Close closes the database.
func (y *Yardstick) Close() error { return errors.Join(y.db.Close(), y.reads.read.db.Close()) }

// Reads is a Store that reads straight, and cannot write.
func (y *Yardstick) Reads() *Store { return y.reads }

// Keep is [Store.Keep].
func (y *Yardstick) Keep(ctx context.Context, accountID string, drafts ...Draft) (kept []Version, err error) {
	err = y.transact(ctx, func(c conn) (err error) {
		kept, err = keepAll(ctx, c, accountID, drafts)
		return err
	})
	return kept, err
}

// Describe is [Store.Describe].
func (y *Yardstick) Describe(ctx context.Context, accountID string, ref Ref, description string) (v Version, err error) {
	err = y.transact(ctx, func(c conn) (err error) {
		v, err = describe(ctx, c, accountID, ref, description)
		return err
	})
	return v, err
}

func (y *Yardstick) transact(ctx context.Context, do func(conn) error) error {
	c, err := y.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := do(c); err != nil {
		_, undo := c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(err, undo)
	}
	_, err = c.ExecContext(ctx, "COMMIT")
	return err
}
