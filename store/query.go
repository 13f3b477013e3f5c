package store

import (
	"context"
	"database/sql"
	"errors"
)

// querier is what reads: the pool of readers, or the writer inside its
// transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// conn is what writes: the writer's one connection.
type conn interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// scanner is a row whose columns can be read.
type scanner interface{ Scan(columns ...any) error }

// query returns every row of the answer.
func query[T any](ctx context.Context, q querier, scan func(scanner) (T, error), text string, args ...any) ([]T,
	error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// first returns the first row of the answer, ErrNotFound where there is none.
func first[T any](ctx context.Context, q querier, scan func(scanner) (T, error), text string, args ...any) (T, error) {
	v, err := scan(q.QueryRowContext(ctx, text, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return v, err
}

// value returns the one column of the first row, ErrNotFound where there is none.
func value[T any](ctx context.Context, q querier, text string, args ...any) (T, error) {
	return first(ctx, q, func(row scanner) (v T, err error) { return v, row.Scan(&v) }, text, args...)
}

// scanFirst puts the columns of the first row into what into points to, ErrNotFound
// where there is none.
func scanFirst(ctx context.Context, q querier, into []any, text string, args ...any) error {
	_, err := first(ctx, q, func(row scanner) (none struct{}, err error) { return none, row.Scan(into...) }, text,
		args...)
	return err
}

// execute runs a statement, whatever it changes.
func execute(ctx context.Context, c conn, text string, args ...any) error {
	_, err := c.ExecContext(ctx, text, args...)
	return err
}

// changeOne runs a statement that changes the one row it names, ErrNotFound
// where there is no such row.
func changeOne(ctx context.Context, c conn, text string, args ...any) error {
	result, err := c.ExecContext(ctx, text, args...)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return ErrNotFound
}

// orNull stores an empty text as NULL: absent and empty are the same here.
func orNull(text string) sql.NullString {
	return sql.NullString{String: text, Valid: text != ""}
}
