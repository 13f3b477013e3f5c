// Package store keeps what must outlive the process: accounts and their keys,
// chats and what was said in them. It is one SQLite file in the data folder,
// written by one goroutine that commits for many callers at once and read by
// many connections. When a write returns nil it is on the disk.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"parley/internal/durable"
)

// Store is one open database. Its methods may be called from many goroutines.
// Several processes may open the same folder; each sees at once what another
// has committed.
type Store struct {
	dir   string
	read  readers
	write *sql.DB
	w     *writer
	// memory spares the readers questions that were just asked.
	memory *memory
	close  func() error
}

// Open opens the database in the data folder dir, creating the folder (for its
// owner only) and the database where there are none, and bringing an older
// database up to date after copying it aside. The errors say what is wrong with
// the folder, and are one of this package's kinds.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, fmt.Errorf("reading the schema's steps: %w", err)
	}
	return open(ctx, dir, log, steps)
}

func open(ctx context.Context, dir string, log *slog.Logger, steps fs.FS) (_ *Store, err error) {
	if dir, err = prepare(dir); err != nil {
		return nil, err
	}
	if err := migrate(ctx, dir, log, steps); err != nil {
		return nil, fmt.Errorf("data folder %s: %w", dir, err)
	}
	s := &Store{
		dir:   dir,
		read:  openReaders(dir),
		write: connect(dir, "", 1),
	}
	if s.w, err = newWriter(ctx, s.write); err != nil {
		return nil, errors.Join(explain("opening the database", err), s.read.db.Close(), s.write.Close())
	}
	if s.memory, err = openMemory(ctx, dir); err != nil {
		return nil, errors.Join(explain("opening the database", err), s.w.close(), s.read.db.Close(), s.write.Close())
	}
	s.close = sync.OnceValue(func() error {
		// The writer's connection goes last: SQLite then folds the log into
		// the database file and removes it.
		err := errors.Join(s.w.close(), s.memory.close(), s.read.db.Close(), s.write.Close())
		return explain("closing the database", err)
	})
	return s, nil
}

// prepare makes the folder and an empty database file that only its owner can
// read, and returns the folder's full path. SQLite gives the files it puts
// beside the database the same mode.
func prepare(dir string) (string, error) {
	if err := makeFolder(dir); err != nil {
		return "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", folderError(dir, err)
	}
	if err := probeFolder(dir); err != nil {
		return "", err
	}
	f, err := os.OpenFile(filepath.Join(dir, databaseName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", folderError(dir, err)
	}
	if err := errors.Join(f.Close(), durable.SyncFolder(dir)); err != nil {
		return "", folderError(dir, err)
	}
	return dir, nil
}

// Close finishes the writes that wait and closes the database. Calls after it
// answer ErrClosed. Closing again does nothing.
func (s *Store) Close() error { return s.close() }

// change runs do in the next transaction and returns when it is on the disk.
func (s *Store) change(ctx context.Context, doing string, do func(context.Context, conn) error) error {
	return explain(doing, s.w.commit(ctx, do))
}
