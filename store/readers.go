package store

import (
	"context"
	"database/sql"
	"runtime"
)

// minReaders is how many questions can be asked at once on a small machine:
// readers wait for the disk more than for a core.
const minReaders = 4

// readers is the pool of connections that read.
//
// Its questions are not broken off once they are asked: each takes milliseconds
// at most, and for one row the goroutines that database/sql and the driver
// start to break it off cost as much as the row. Who has gone before is not
// answered.
type readers struct{ db *sql.DB }

func openReaders(dir string) readers {
	return readers{connect(dir, readPragmas, max(minReaders, runtime.NumCPU()))}
}

// patience is the context for a question of ctx.
func (r readers) patience(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (r readers) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return r.db.QueryContext(r.patience(ctx), text, args...)
}

func (r readers) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	return r.db.QueryRowContext(r.patience(ctx), text, args...)
}

// look asks several questions of one moment.
func (r readers) look(ctx context.Context, ask func(context.Context, querier) error) error {
	ctx = r.patience(ctx)
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func(tx *sql.Tx) { _ = tx.Rollback() }(tx) // nothing was written
	return ask(ctx, tx)
}
