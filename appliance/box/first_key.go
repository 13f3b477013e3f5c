package box

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parley/internal/durable"
	"parley/internal/layout"
	"parley/store"
)

// DefaultAccount owns the first key of a box.
const DefaultAccount = "default"

// FirstKey is the key that a box without keys makes for its operator.
type FirstKey struct {
	Made bool   // false: the box had a key already, and the other fields are zero
	File string // holds the secrets; empty if they are to be shown on a terminal
	store.Credentials
}

// MakeFirstKey makes a key for a box that has none of its own: those of its hub are
// clients'. If no terminal can show the secrets, they go to a file in the data folder that
// only the box's user can read: logs and pipes would store them for others to read.
func MakeFirstKey(ctx context.Context, data string, terminal bool, records *store.Store) (FirstKey, error) {
	known, err := records.ListKeys(ctx, "")
	if err != nil {
		return FirstKey{}, err
	}
	managed, err := records.Managed(ctx)
	if err != nil || slices.ContainsFunc(known, func(k store.Key) bool { return !managed[k.ID] }) {
		return FirstKey{}, err
	}
	file := filepath.Join(data, layout.FirstKey)
	if !terminal {
		if _, err := os.Lstat(file); err == nil {
			return FirstKey{}, fmt.Errorf("%s is there already and is not overwritten: move it away and start the "+
				"box again, or make a key with: parley keys create --data %s", file, data)
		}
	}
	made, err := records.CreateKey(ctx,
		store.NewKey{Account: DefaultAccount, Label: "first start", Role: store.OperatorKey})
	if err != nil || terminal {
		return FirstKey{Made: err == nil, Credentials: made}, err
	}
	if err := writeFirstKey(file, made); err != nil {
		// Without its secrets the key is of no use.
		return FirstKey{}, errors.Join(fmt.Errorf("writing the first key: %w", err),
			records.RevokeKey(context.WithoutCancel(ctx), made.KeyID))
	}
	return FirstKey{Made: true, File: file, Credentials: made}, nil
}

// writeFirstKey writes the secrets to a new file, as shell variables.
func writeFirstKey(file string, made store.Credentials) error {
	f, err := durable.Create(file, 0o600)
	if err != nil {
		return err
	}
	defer f.Discard()
	_, err = fmt.Fprintf(f, "# The first key of the box whose data lies here, an operator's, made at its first start "+
		"(%s).\n# Keep it elsewhere, and delete this file.\nPARLEY_API_KEY=%s\nPARLEY_SECRET_KEY=%s\n"+
		"PARLEY_WEBHOOK_SIGNING_KEY=%s\n",
		time.Now().Format(time.RFC3339), made.APIKey, made.SecretKey, made.WebhookSigningKey)
	if err != nil {
		return err
	}
	return f.CommitNew()
}

// LeftFirstKey returns the file with the first key if it still lies in the data
// folder, and "" if it does not.
func LeftFirstKey(data string) string {
	file := filepath.Join(data, layout.FirstKey)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}
