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
//   - busy_timeout: other commands write while a box runs; their
//     transactions take milliseconds, so 5 s means that something is stuck.
//   - journal_mode WAL: readers never wait for the writer, nor it for them.
//   - synchronous FULL: a commit is on the disk before the caller is answered.
//   - foreign_keys: SQLite leaves them off unless asked.
//   - journal_size_limit: a long backup lets the log grow; truncate it afterwards.
//   - temp_store MEMORY: no sort spills conversations into /tmp.
//   - trusted_schema OFF: a database from elsewhere runs no functions.
//   - secure_delete: deleted rows are overwritten, not only unlinked.
//   - cache_size: 4 MiB a connection, enough for the upper levels of every index in use.
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

// readPragmas are added on connections that must never write.
const readPragmas = `PRAGMA query_only = ON;`

// servingPragmas are added on the serving box's writing connection: a commit does not
// also checkpoint SQLite's log (see background.go).
const servingPragmas = `PRAGMA wal_autocheckpoint = 0;`

// checkpointPragmas are added on the connection that checkpoints: it moves what no reader
// holds and waits for nothing.
const checkpointPragmas = `PRAGMA busy_timeout = 0; PRAGMA wal_autocheckpoint = 0;`

// migratePragmas are added on the connection that migrates: rebuilding a table drops it
// first, which would cascade. The migration checks the references itself.
const migratePragmas = `PRAGMA foreign_keys = OFF;`

// statementCache is how many prepared statements a connection caches: more than this
// package has.
const statementCache = 100

// connector opens connections to one database file. It avoids registering the driver
// under a global name of database/sql.
type connector struct {
	dsn  string
	more string // pragmas after the common ones
}

// connect returns a pool of at most size connections to the database in dir, all of which
// stay open.
func connect(dir, more string, size int) *sql.DB {
	db := sql.OpenDB(connector{dsn: fileDSN(filepath.Join(dir, databaseName)), more: more})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

// fileDSN returns the name of a file for SQLite, as a URI, so that characters of the path
// such as ? and % have no meaning. The connections need no mutex: database/sql gives each
// to one goroutine at a time.
func fileDSN(path string) string {
	u := url.URL{Scheme: "file", Path: path, OmitHost: false}
	return fmt.Sprintf("%s?_mutex=no&_stmt_cache_size=%d", u.String(), statementCache)
}

// Connect opens a connection and sets its pragmas.
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

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }
