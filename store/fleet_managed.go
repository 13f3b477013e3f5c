package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrManaged means that the hub of the fleet manages something, so that it cannot be changed
// on the box.
type ErrManaged struct {
	What string // such as "config"
	Hub  string // the name of the hub
}

func (e ErrManaged) Error() string {
	return fmt.Sprintf("the hub %s manages this %s; change it there", e.Hub, e.What)
}

// checkLocal returns an ErrManaged if a row is managed by the hub. condition selects the row
// from the table; without a row there is nothing to check.
func checkLocal(ctx context.Context, c conn, what, table, condition string, args ...any) error {
	managed, err := value[bool](ctx, c, `SELECT managed FROM `+table+` WHERE managed = 1 AND `+condition, args...)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil || !managed {
		return err
	}
	hub, err := value[string](ctx, c, `SELECT hub FROM fleet`)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return ErrManaged{what, hub}
}

// Managed are the ids of what the hub manages, and the names of plugins.
type Managed map[string]bool

// Managed returns what the hub manages on this box. It is empty if the box is in no fleet.
func (s *Store) Managed(ctx context.Context) (Managed, error) {
	ids, err := query(ctx, s.read, scanText, `
		SELECT id FROM resource WHERE managed = 1 UNION ALL SELECT id FROM voice WHERE managed = 1
		 UNION ALL SELECT id FROM key WHERE managed = 1 UNION ALL SELECT name FROM plugin WHERE managed = 1`)
	managed := make(Managed, len(ids))
	for _, id := range ids {
		managed[id] = true
	}
	return managed, explain("reading what the hub manages", err)
}
