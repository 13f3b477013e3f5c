package store

import (
	"context"
	"database/sql"
	"runtime"
)

// minReaders is how many queries can run at once on a small machine: they wait
// for the disk more than for a core.
const minReaders = 4

// readPool is the pool of connections that read.
//
// A query that has begun is not cancelled when its context ends: it takes
// milliseconds at most, and to be able to cancel it database/sql and the driver
// start two goroutines, which cost as much as reading one row. A query whose
// context has ended already is not begun.
type readPool struct{ db *sql.DB }

func openReadPool(dir string) readPool {
	return readPool{connect(dir, readPragmas, max(minReaders, runtime.NumCPU()))}
}

// openKeyPool are connections for the questions whether somebody may come in, one
// for each core, so that they wait for nothing that those who are in have asked for.
// Each takes some microseconds. With one connection for all, the API served a fifth
// fewer requests.
func openKeyPool(dir string) readPool { return readPool{connect(dir, readPragmas, runtime.NumCPU())} }

// uncancelled is the context that a query runs under.
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

// snapshot runs several queries that all see the database as it is now.
func (r readPool) snapshot(ctx context.Context, do func(context.Context, querier) error) error {
	ctx = uncancelled(ctx)
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func(tx *sql.Tx) { _ = tx.Rollback() }(tx) // nothing was written
	return do(ctx, tx)
}
