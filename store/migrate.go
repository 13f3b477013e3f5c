package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"

	"parley/internal/layout"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations returns the schema's numbered steps.
func migrations() (fs.FS, error) { return fs.Sub(migrationFiles, "migrations") }

// migrate brings the database in dir up to the newest of the steps, all of them
// in one transaction: an interruption at any moment leaves the old database,
// and two processes that start at once do it once. A database that holds
// something is copied aside before.
func migrate(ctx context.Context, dir string, log *slog.Logger, steps fs.FS) error {
	db := sql.OpenDB(connector{
		dsn:  fileDSN(filepath.Join(dir, databaseName)),
		more: migratePragmas,
		wrap: func(c *sqlite3.SQLiteConn) driver.Conn { return nested{c} },
	})
	defer db.Close()
	db.SetMaxOpenConns(1) // the connection whose transaction is open
	db.SetMaxIdleConns(1)

	current, err := version(ctx, db)
	if err != nil {
		return explain("reading the database's version", err)
	}
	if err := lostDatabase(dir, current); err != nil {
		return err
	}
	goosed, err := goose.NewProvider(goose.DialectSQLite3, db, steps,
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return fmt.Errorf("reading the schema's steps: %w", err)
	}
	sources := goosed.ListSources()
	switch target := sources[len(sources)-1].Version; {
	case current == target:
		return nil
	case current > target:
		return newer(current, target)
	}
	if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain("starting the migration", err)
	}
	err = step(ctx, dir, log, db, goosed)
	if err == nil {
		_, err = db.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, undo := db.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(explain("migrating the database (it is as it was before)", err), undo)
	}
	return nil
}

// lostDatabase says when an empty database stands where another must have been:
// to begin anew would delete the recordings that nothing speaks of any more.
func lostDatabase(dir string, current int64) error {
	if current > 0 {
		return nil
	}
	recordings := filepath.Join(dir, layout.Recordings)
	if left, err := fs.Glob(os.DirFS(recordings), "*"+recordingSuffix); err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf("%w: %s is empty or was gone, but there are recordings; to begin anew without a backup, move %s away",
		ErrDamaged, databaseName, recordings)
}

func newer(current, known int64) error {
	return fmt.Errorf("%w: its schema is version %d and this one knows up to %d; install the newer Parley, or restore a backup made before it",
		ErrNewer, current, known)
}

// NewestSchema is the version of the schema that [Open] brings a database to.
func NewestSchema() (int64, error) {
	names, err := migrationFiles.ReadDir("migrations")
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(names[len(names)-1].Name()) // they are sorted
}

// step runs inside the transaction of migrate, which holds off other writers.
func step(ctx context.Context, dir string, log *slog.Logger, db *sql.DB, goosed *goose.Provider) error {
	from, err := version(ctx, db) // again: another process may just have done it
	if err != nil {
		return err
	}
	sources := goosed.ListSources()
	target := sources[len(sources)-1].Version
	if from >= target {
		return nil
	}
	if from > 0 {
		aside := filepath.Join(dir, layout.Copy(target))
		if _, err := copyDatabase(ctx, dir, aside, nil); err != nil {
			return fmt.Errorf("copying the database aside: %w", err)
		}
		log.Info("migrating the database", "from", from, "to", target, "copy", aside)
	}
	if _, err := goosed.Up(ctx); err != nil {
		return err
	}
	return checkReferences(ctx, db)
}

// version returns the number of the last step that the database has had, 0 for
// an empty one.
func version(ctx context.Context, q querier) (int64, error) {
	tables, err := query(ctx, q, scanText, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	if err != nil || len(tables) == 0 {
		return 0, err
	}
	for _, name := range tables {
		if name == goose.DefaultTablename {
			return value[int64](ctx, q, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`)
		}
	}
	return 0, fmt.Errorf("%s holds tables that are not Parley's (%s); give a folder of its own with --data", databaseName, tables[0])
}

// checkReferences finds rows that refer to none, which a step that rebuilds a
// table could leave behind.
func checkReferences(ctx context.Context, q querier) error {
	broken, err := value[string](ctx, q, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("table %s refers to rows that are gone: %w", broken, ErrDamaged)
}

func scanText(row scanner) (text string, err error) { return text, row.Scan(&text) }

// nested is a connection whose transactions are savepoints. The migration
// library commits step by step; through this its commits are parts of ours.
type nested struct{ *sqlite3.SQLiteConn }

// BeginTx opens a savepoint.
func (c nested) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	_, err := c.Exec("SAVEPOINT step", nil)
	return c, err
}

// Commit keeps what was done since the savepoint, for the transaction around it.
func (c nested) Commit() error {
	_, err := c.Exec("RELEASE step", nil)
	return err
}

// Rollback undoes what was done since the savepoint.
func (c nested) Rollback() error {
	_, err := c.Exec("ROLLBACK TO step; RELEASE step", nil)
	return err
}
