package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"

	"parley/internal/durable"
)

// backupPages is how many pages are copied between two checks of the context and calls of
// progress: 4 MiB, some milliseconds.
const backupPages = 1024

// Backup copies the database of the data folder dir, as it is now, to a new file, and
// returns the schema version of the copy. A box may serve the folder meanwhile: readers
// and writers do not wait. An older database is not migrated. The file appears whole or
// not at all, and only its owner can read it. progress, which may be nil, is called with
// the bytes copied and the total.
//
// The error is ErrConflict if the file exists, ErrNotFound if there is no database.
func Backup(ctx context.Context, dir, file string, progress func(done, total int64)) (schema int64, err error) {
	if _, err := os.Lstat(file); err == nil {
		return 0, fmt.Errorf("backup file %s exists: %w; name another", file, ErrConflict)
	}
	if err := holdsDatabase(dir); err != nil {
		return 0, err
	}
	return copyDatabase(ctx, dir, file, progress)
}

// holdsDatabase returns an error if dir has no database, which SQLite would otherwise
// create.
func holdsDatabase(dir string) error {
	switch info, err := os.Stat(filepath.Join(dir, databaseName)); {
	case errors.Is(err, fs.ErrNotExist):
		return noDatabase(dir)
	case err != nil:
		return folderError(dir, err)
	case info.IsDir():
		return fmt.Errorf("data folder %s: %s is a folder: %w", dir, databaseName, ErrDamaged)
	}
	return nil
}

func noDatabase(dir string) error {
	return fmt.Errorf(
		"data folder %s: a database is %w there; name the box's folder with --data (parley serve begins a new one)",
		dir, ErrNotFound)
}

// Check reads the whole database. It returns ErrDamaged with the first findings if the
// database is not sound.
func (s *Store) Check(ctx context.Context) error {
	return check(ctx, s.read.db)
}

// Inspect is Check without opening the store: it changes nothing in the data folder dir,
// and does not migrate an older database. It returns the version of the database's
// schema, also with ErrDamaged and, if the schema is newer than [NewestSchema], with
// ErrNewer. The error is ErrNotFound if there is no database.
func Inspect(ctx context.Context, dir string) (schema int64, err error) {
	if err := holdsDatabase(dir); err != nil {
		return 0, err
	}
	target, err := NewestSchema()
	if err != nil {
		return 0, err
	}
	db := connect(dir, readPragmas, 1)
	defer db.Close()
	if schema, err = usable(ctx, db, dir, target); err != nil {
		return schema, err
	}
	return schema, check(ctx, db)
}

func check(ctx context.Context, q querier) error {
	const doing = "checking the database"
	found, err := query(ctx, q, scanText, `PRAGMA integrity_check(10)`)
	if err != nil {
		return explain(doing, err)
	}
	if len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("%s: %w (%s)", doing, ErrDamaged, strings.Join(found, "; "))
	}
	return explain(doing, checkReferences(ctx, q))
}

// copyDatabase copies the database in dir to file, replacing it, through a temporary file
// in the same folder, and returns the schema version.
func copyDatabase(ctx context.Context, dir, file string, progress func(done, total int64)) (schema int64, err error) {
	file, err = filepath.Abs(file)
	if err != nil {
		return 0, err
	}
	folder := filepath.Dir(file)
	copied, err := durable.Create(file, 0o600)
	if err != nil {
		return 0, folderError(folder, err)
	}
	defer copied.Discard()
	if schema, err = copyPages(ctx, dir, copied.Name(), progress); err != nil {
		return 0, explain("copying the database", err)
	}
	if err := copied.Commit(); err != nil {
		return 0, folderError(folder, err)
	}
	return schema, nil
}

// copyPages copies a snapshot of the database in dir into the empty file to.
func copyPages(ctx context.Context, dir, to string, progress func(done, total int64)) (schema int64, err error) {
	source := connect(dir, readPragmas, 1)
	defer source.Close()
	from, err := source.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	// The read transaction pins a snapshot. Without it SQLite starts again after
	// every write.
	if _, err := from.ExecContext(ctx, "BEGIN"); err != nil {
		return 0, err
	}
	defer from.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	if schema, err = version(ctx, from); err != nil {
		return 0, err
	}
	size, err := value[int64](ctx, from, `SELECT page_size FROM pragma_page_size, sqlite_schema LIMIT 1`)
	if err != nil {
		return 0, err
	}
	target, err := (&sqlite3.SQLiteDriver{}).Open(fileDSN(to))
	if err != nil {
		return 0, err
	}
	defer target.Close()
	return schema, from.Raw(func(c any) error {
		copying, err := target.(*sqlite3.SQLiteConn).Backup("main", c.(*sqlite3.SQLiteConn), "main")
		if err != nil {
			return err
		}
		for done := false; !done && err == nil; {
			if done, err = copying.Step(backupPages); err == nil {
				err = context.Cause(ctx)
			}
			if progress != nil && err == nil {
				total := int64(copying.PageCount())
				progress((total-int64(copying.Remaining()))*size, total*size)
			}
		}
		return errors.Join(err, copying.Finish())
	})
}
