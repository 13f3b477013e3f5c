package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/mattn/go-sqlite3" // SQLite sorts what was found, in a file without a name
)

// A spool holds the records that were found, once each, in a database that SQLite deletes
// by itself. It takes little memory, however many there are.
type spool struct {
	db *sql.DB
	tx *sql.Tx // one for all
	on map[string]*sql.Stmt
}

const spoolSchema = `
	PRAGMA journal_mode = OFF;
	PRAGMA synchronous = OFF;
	PRAGMA cache_size = -16384;

	CREATE TABLE version (kind TEXT, id TEXT, version INT, embedded INT, name TEXT, created INT, modified INT,
	                      body TEXT, file INT, PRIMARY KEY (kind, id, version)) WITHOUT ROWID;
	CREATE TABLE chat (id TEXT PRIMARY KEY, grp TEXT, status TEXT, start INT, ended INT, config TEXT,
	                   config_version INT, metadata TEXT, event_count INT, file INT) WITHOUT ROWID;
	CREATE TABLE grp (id TEXT PRIMARY KEY, chats INT, file INT) WITHOUT ROWID;
	CREATE TABLE event (chat TEXT, id TEXT, at INT, type TEXT, role TEXT, text TEXT, emotions TEXT, metadata TEXT,
	                    related TEXT, sum INT, run INT, pos INT, file INT, PRIMARY KEY (chat, id)) WITHOUT ROWID;
	CREATE TABLE run_page (run INT PRIMARY KEY, grp TEXT, direction INT) WITHOUT ROWID;
	CREATE TABLE voice (id TEXT PRIMARY KEY, name TEXT, provider TEXT, used INT, file INT) WITHOUT ROWID;
	CREATE TABLE audio (chat TEXT PRIMARY KEY, filename TEXT, file INT) WITHOUT ROWID;`

func newSpool(ctx context.Context) (*spool, error) {
	db, err := sql.Open("sqlite3", "") // a file in SQLITE_TMPDIR, TMPDIR or /var/tmp, without a name
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection has a database of its own
	s := &spool{db: db, on: map[string]*sql.Stmt{}}
	if _, err = db.ExecContext(ctx, spoolSchema); err == nil {
		s.tx, err = db.BeginTx(ctx, nil)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a temporary file: %w", err), db.Close())
	}
	return s, nil
}

func (s *spool) close() error {
	_ = s.tx.Rollback() // it is deleted
	return s.db.Close()
}

// prepared returns a statement.
func (s *spool) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if on, ok := s.on[text]; ok {
		return on, nil
	}
	on, err := s.tx.PrepareContext(ctx, text)
	if err == nil {
		s.on[text] = on
	}
	return on, err
}

// run runs a statement, and returns the number of rows that it changed.
func (s *spool) run(ctx context.Context, text string, args ...any) (int64, error) {
	on, err := s.prepared(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := on.ExecContext(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("writing a temporary file: %w", err)
	}
	return result.RowsAffected()
}

// rows returns the rows of a query.
func rows[T any](ctx context.Context, s *spool, columns func(*T) []any, text string, args ...any) (all []T, err error) {
	on, err := s.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	found, err := on.QueryContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("reading a temporary file: %w", err)
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var one T
		if err := found.Scan(columns(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, found.Err()
}

// only returns the columns of a row that is one value.
func only[T any](v *T) []any { return []any{v} }

// number returns the number that a query finds.
func (s *spool) number(ctx context.Context, text string, args ...any) (n int64, err error) {
	all, err := rows(ctx, s, only[int64], text, args...)
	if len(all) > 0 {
		n = all[0]
	}
	return n, err
}
