package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// backupPages is how many pages are copied between two looks at the context
// and calls of progress: 4 MiB, some milliseconds.
const backupPages = 1024

// Backup writes the database as it is now to a new file while the box goes on
// working: readers and writers wait for nothing. The file appears whole or not
// at all and only its owner can read it. progress, which may be nil, hears how
// many of how many bytes are copied. ErrConflict means that the file exists.
func (s *Store) Backup(ctx context.Context, file string, progress func(done, total int64)) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("backup file %s exists: %w; name another", file, ErrConflict)
	}
	return copyDatabase(ctx, s.dir, file, progress)
}

// Check reads the whole database and returns what is wrong with it: nil when it
// is sound, ErrDamaged with the first findings when it is not.
func (s *Store) Check(ctx context.Context) error {
	const doing = "checking the database"
	found, err := query(ctx, s.read, scanText, `PRAGMA integrity_check(10)`)
	if err != nil {
		return explain(doing, err)
	}
	if len(found) != 1 || found[0] != "ok" {
		return fmt.Errorf("%s: %w (%s)", doing, ErrDamaged, strings.Join(found, "; "))
	}
	return explain(doing, checkReferences(ctx, s.read))
}

// copyDatabase copies the database in dir to file, replacing it, through a
// temporary file beside it.
func copyDatabase(ctx context.Context, dir, file string, progress func(done, total int64)) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	folder := filepath.Dir(file)
	temporary, err := os.CreateTemp(folder, ".parley-copy-*") // mode 0600
	if err != nil {
		return folderError(folder, err)
	}
	defer os.Remove(temporary.Name())
	defer temporary.Close()
	if err := copyPages(ctx, dir, temporary.Name(), progress); err != nil {
		return explain("copying the database", err)
	}
	if err := temporary.Sync(); err != nil {
		return folderError(folder, err)
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return folderError(folder, err)
	}
	return syncFolder(folder)
}

// copyPages copies a snapshot of the database in dir into the empty file to.
func copyPages(ctx context.Context, dir, to string, progress func(done, total int64)) error {
	source := connect(dir, readPragmas, 1)
	defer source.Close()
	from, err := source.Conn(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	// With a read transaction open for the whole time, the copy is of this
	// moment. Without it SQLite starts again whenever someone writes.
	if _, err := from.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	defer from.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	size, err := value[int64](ctx, from, `SELECT page_size FROM pragma_page_size, sqlite_schema LIMIT 1`)
	if err != nil {
		return err
	}
	target, err := (&sqlite3.SQLiteDriver{}).Open(fileDSN(to))
	if err != nil {
		return err
	}
	defer target.Close()
	return from.Raw(func(c any) error {
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
