package store

import (
	"context"
	"crypto/rand"
	"errors"
)

// secretBytes is the length of a signing key: that of the hash it is used with (RFC 2104,
// section 3).
const secretBytes = 32

// Secret returns the box's signing key with that name, which is created on first use.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	const find = `SELECT key FROM secret WHERE name = ?`
	doing := "reading the key " + name
	key, err := value[[]byte](ctx, s.keys, find, name)
	if !errors.Is(err, ErrNotFound) {
		return key, explain(doing, err)
	}
	err = s.change(ctx, doing, func(ctx context.Context, c conn) error {
		fresh := make([]byte, secretBytes)
		_, _ = rand.Read(fresh) // never fails, as its documentation says
		if _, err := c.ExecContext(ctx, `INSERT INTO secret (name, key) VALUES (?, ?) ON CONFLICT DO NOTHING`, name,
			fresh); err != nil {
			return err
		}
		key, err = value[[]byte](ctx, c, find, name)
		return err
	})
	return key, err
}
