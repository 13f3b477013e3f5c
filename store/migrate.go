package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"parley/internal/layout"
)

// migrationFiles are the steps of the schema, NUMBER_NAME.sql.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks a database as Parley's ("Parl"), in the header field for it
// (https://www.sqlite.org/pragma.html#pragma_application_id).
const applicationID = 0x5061726c

// migration is one step of the schema.
type migration struct {
	version int64
	text    string // SQL
}

// migrations returns the steps of the schema in order.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	steps := make([]migration, len(names))
	for i, name := range names {
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		if steps[i].version, err = strconv.ParseInt(number, 10, 64); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if steps[i].version != int64(i+1) { // of two with one number, one would never run
			return nil, fmt.Errorf("%s: number %d is taken or leaves a gap: the next is %d", name, steps[i].version,
				i+1)
		}
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		steps[i].text = string(text)
	}
	return steps, nil
}

// NewestSchema returns the version of the schema to which [Open] brings a database.
func NewestSchema() (int64, error) {
	steps, err := migrations()
	if err != nil {
		return 0, err
	}
	return newest(steps), nil
}

func newest(steps []migration) int64 { return steps[len(steps)-1].version }

// migrate brings the database in dir to the newest of the steps, in one transaction, so
// that an interruption at any moment leaves the old database. It first copies a database
// that is not empty. The caller holds the folder's lock.
func migrate(ctx context.Context, dir string, log *slog.Logger, steps []migration) error {
	db := connect(dir, migratePragmas, 1)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain("opening the database", err)
	}
	defer conn.Close()
	current, err := usable(ctx, conn, dir, newest(steps))
	if err != nil || current == newest(steps) {
		return err
	}
	if current > 0 {
		aside := filepath.Join(dir, layout.DatabaseCopy(newest(steps)))
		if _, err := copyDatabase(ctx, dir, aside, nil); err != nil {
			return fmt.Errorf("copying the database aside: %w", err)
		}
		log.Info("migrating the database", "from", current, "to", newest(steps), "copy", aside)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain("starting the migration", err)
	}
	if err = applySteps(ctx, conn, current, steps); err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return errors.Join(explain("migrating the database (it is as it was before)", err), undo)
	}
	return nil
}

// usable returns the version of the database's schema, or an error if this program must
// not use the database: it is not Parley's, is newer than target, or is the empty remains
// of a lost one.
func usable(ctx context.Context, q querier, dir string, target int64) (current int64, err error) {
	if current, err = version(ctx, q); err != nil {
		return 0, explain("reading the database's version", err)
	}
	if current > target {
		return current, fmt.Errorf("%w: its schema is version %d and this one knows up to %d; install the newer "+
			"Parley, or restore a backup made before it",
			ErrNewer, current, target)
	}
	return current, checkNotLost(dir, current)
}

// checkNotLost returns ErrDamaged for an empty database beside recordings: its
// predecessor was lost, and a new start would delete the recordings as belonging to no
// chat.
func checkNotLost(dir string, current int64) error {
	if current > 0 {
		return nil
	}
	recordings := filepath.Join(dir, layout.Recordings)
	if left, err := fs.Glob(os.DirFS(recordings), "*"+recordingSuffix); err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf(
		"%w: %s is empty or was gone, but there are recordings; to begin anew without a backup, move %s away",
		ErrDamaged, databaseName, recordings)
}

// applySteps runs the steps after the version current, inside a transaction.
func applySteps(ctx context.Context, c *sql.Conn, current int64, steps []migration) error {
	for _, step := range steps {
		if step.version <= current {
			continue
		}
		if _, err := c.ExecContext(ctx, step.text); err != nil {
			return fmt.Errorf("step %d: %w", step.version, err)
		}
	}
	if err := execute(ctx, c,
		fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d`, newest(steps), applicationID)); err != nil {
		return err
	}
	if err := noteGooseVersion(ctx, c, newest(steps)); err != nil {
		return err
	}
	return checkReferences(ctx, c)
}

// gooseTable is where versions of Parley up to schema 5 recorded their steps, with the
// library goose.
const gooseTable = "goose_db_version"

// noteGooseVersion also records the schema where those versions look for it, in a
// database that one of them created, so that they refuse the newer database with a clear
// error.
func noteGooseVersion(ctx context.Context, c conn, now int64) error {
	noted, err := value[bool](ctx, c, `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?)`, gooseTable)
	if err != nil || !noted {
		return err
	}
	return execute(ctx, c, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)`, now)
}

// version returns the number of the last step applied to the database, 0 for an empty
// one.
func version(ctx context.Context, q querier) (int64, error) {
	tables, err := query(ctx, q, scanText, `SELECT name FROM sqlite_schema WHERE type = 'table'`)
	if err != nil || len(tables) == 0 {
		return 0, err
	}
	id, err := value[int64](ctx, q, `PRAGMA application_id`)
	switch {
	case err != nil:
		return 0, err
	case id == applicationID:
		return value[int64](ctx, q, `PRAGMA user_version`)
	case slices.Contains(tables, gooseTable):
		return value[int64](ctx, q, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`)
	}
	return 0, fmt.Errorf("%s holds tables that are not Parley's (%s); give a folder of its own with --data",
		databaseName, tables[0])
}

// checkReferences returns ErrDamaged if rows refer to rows that do not exist, which a
// step that rebuilds a table could cause.
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
