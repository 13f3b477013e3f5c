package store

import (
	"context"
	"crypto/rand"
	"errors"
)

// secretBytes is the length of a key that signs: that of the hash it is used
// with (RFC 2104, 3).
const secretBytes = 32

// Secret returns the box's own key of that name, made when first asked for.
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
