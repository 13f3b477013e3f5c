package box

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"parley/internal/durable"
	"parley/internal/layout"
	"parley/store"
)

// HasPassword reports whether the box with its data in a folder has a password for the console.
// A folder without a box has none.
func HasPassword(ctx context.Context, data string) (bool, error) {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, _, err = records.ConsolePassword(ctx)
	none := errors.Is(err, store.ErrNotFound)
	if none {
		err = nil
	}
	return !none && err == nil, errors.Join(err, records.Close())
}

// SetPassword sets the password of the console of a box, running or not, and ends its sessions.
// It creates the database of a new box; the files belong to the owner of the folder.
func SetPassword(ctx context.Context, data, password string) (ended int64, err error) {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		if err := os.MkdirAll(data, layout.DataMode); err != nil {
			return 0, fmt.Errorf("creating the data folder: %w", err)
		}
		records, err = store.Open(ctx, data, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		return 0, err
	}
	ended, err = records.SetConsolePassword(ctx, password, "", time.Now())
	return ended, errors.Join(err, records.Close(), durable.InheritAll(data))
}

// FinishSetUp notes that the box with its data in a folder is set up, which closes the first visit of
// its console. A folder without a box has nothing to note.
func FinishSetUp(ctx context.Context, data string) error {
	records, err := store.Join(ctx, data)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(records.FinishSetUp(ctx, time.Now()), records.Close())
}
