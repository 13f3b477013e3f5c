package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// pragmas are set on every connection. The reasons:
//
//   - busy_timeout: other commands write beside a running box; their
//     transactions take milliseconds, so 5 s means that something is stuck.
//   - journal_mode WAL: readers never wait for the writer, nor it for them.
//   - synchronous FULL: a commit is on the disk before the caller is answered.
//   - foreign_keys: SQLite leaves them off unless asked.
//   - journal_size_limit: a long backup lets the log grow; give it back after.
//   - temp_store MEMORY: no sort spills what people said into /tmp.
//   - trusted_schema OFF: a database from elsewhere runs no functions.
//   - secure_delete: what is deleted is overwritten, not only forgotten.
//   - cache_size: 4 MiB a connection, the upper levels of every index in use.
const pragmas = `
	PRAGMA busy_timeout = 5000;
	PRAGMA journal_mode = WAL;
	PRAGMA synchronous = FULL;
	PRAGMA foreign_keys = ON;
	PRAGMA journal_size_limit = 67108864;
	PRAGMA temp_store = MEMORY;
	PRAGMA trusted_schema = OFF;
	PRAGMA secure_delete = ON;
	PRAGMA cache_size = -4096;`

// readPragmas follow on the connections that must never write.
const readPragmas = `PRAGMA query_only = ON;`

// servingPragmas follow on the box's connection that writes: who commits does not
// also move SQLite's log into the database file (see background.go).
const servingPragmas = `PRAGMA wal_autocheckpoint = 0;`

// checkpointPragmas follow on the connection that moves the log into the
// database file: it takes what nobody holds and waits for nothing.
const checkpointPragmas = `PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0;`

// migratePragmas follow on the connection that migrates: rebuilding a table
// drops it first, which would cascade. The migration checks the keys itself.
const migratePragmas = `PRAGMA foreign_keys = OFF;`

// statementCache is how many prepared statements a connection keeps: more than
// this package has.
const statementCache = 100

// connector opens connections to one database file. It exists so that the
// driver need not be registered under a name of ours in database/sql's globals.
type connector struct {
	dsn  string
	more string // pragmas after the common ones
}

// connect returns a pool of at most size connections to the database in dir,
// all of them kept.
func connect(dir, more string, size int) *sql.DB {
	db := sql.OpenDB(connector{dsn: fileDSN(filepath.Join(dir, databaseName)), more: more})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

// fileDSN names a file for SQLite, whose connections need no lock of their own:
// database/sql gives each to one goroutine at a time. As a URI, so that no character of the path
// (a question mark, a percent sign) means anything else.
func fileDSN(path string) string {
	u := url.URL{Scheme: "file", Path: path, OmitHost: false}
	return fmt.Sprintf("%s?_mutex=no&_stmt_cache_size=%d", u.String(), statementCache)
}

// Connect opens one connection and sets its pragmas.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open(c.dsn)
	if err != nil {
		return nil, err
	}
	lite := conn.(*sqlite3.SQLiteConn)
	if _, err := lite.Exec(pragmas+c.more, nil); err != nil {
		lite.Close()
		return nil, err
	}
	return lite, nil
}

// Driver is asked for by database/sql.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }
