package store

import (
	"context"
	"database/sql"
	"runtime"
)

// minReaders is how many queries can run in parallel on a small machine: they wait for
// the disk more than for a core.
const minReaders = 4

// readPool is a pool of connections that read.
//
// A running query is not cancelled when its context ends: it takes milliseconds at most,
// and cancellation costs two goroutines in database/sql and the driver, as much as
// reading a row. A query whose context has ended already does not start.
type readPool struct{ db *sql.DB }

func openReadPool(dir string) readPool {
	return readPool{connect(dir, readPragmas, max(minReaders, runtime.NumCPU()))}
}

// openKeyPool opens the connections for looking up keys, one a core, so that
// authentication does not wait for the queries of requests. A lookup takes some
// microseconds. With one pool for all, the API served a fifth fewer requests.
func openKeyPool(dir string) readPool { return readPool{connect(dir, readPragmas, runtime.NumCPU())} }

// uncancelled returns the context for a query.
func uncancelled(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (r readPool) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return r.db.QueryContext(uncancelled(ctx), text, args...)
}

func (r readPool) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	return r.db.QueryRowContext(uncancelled(ctx), text, args...)
}

// snapshot runs several queries on one snapshot of the database.
func (r readPool) snapshot(ctx context.Context, do func(context.Context, querier) error) error {
	ctx = uncancelled(ctx)
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func(tx *sql.Tx) { _ = tx.Rollback() }(tx) // nothing was written
	return do(ctx, tx)
}
