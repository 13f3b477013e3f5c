package store

import (
	"context"
	"database/sql"
	"errors"
)

// querier reads: the pool of readers, or the writer inside its transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// conn writes: the writer's connection.
type conn interface {
	querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// scanner is a row.
type scanner interface{ Scan(columns ...any) error }

// query returns all rows of a query.
func query[T any](ctx context.Context, q querier, scan func(scanner) (T, error), text string, args ...any) ([]T,
	error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, rows.Err()
}

// first returns the first row of a query, or ErrNotFound.
func first[T any](ctx context.Context, q querier, scan func(scanner) (T, error), text string, args ...any) (T, error) {
	v, err := scan(q.QueryRowContext(ctx, text, args...))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNotFound
	}
	return v, err
}

// value returns the only column of the first row, or ErrNotFound.
func value[T any](ctx context.Context, q querier, text string, args ...any) (T, error) {
	return first(ctx, q, func(row scanner) (v T, err error) { return v, row.Scan(&v) }, text, args...)
}

// scanFirst scans the first row into the pointers in into, or returns ErrNotFound.
func scanFirst(ctx context.Context, q querier, into []any, text string, args ...any) error {
	_, err := first(ctx, q, func(row scanner) (none struct{}, err error) { return none, row.Scan(into...) }, text,
		args...)
	return err
}

// execute runs a statement.
func execute(ctx context.Context, c conn, text string, args ...any) error {
	_, err := c.ExecContext(ctx, text, args...)
	return err
}

// changeOne runs a statement that must change a row, and returns ErrNotFound if it
// changes none.
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

// orNull stores an empty string as NULL.
func orNull(text string) sql.NullString {
	return sql.NullString{String: text, Valid: text != ""}
}
