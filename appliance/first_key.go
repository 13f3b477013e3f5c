package appliance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"parley/internal/durable"
	"parley/internal/layout"
	"parley/store"
)

// defaultAccount owns what is made before anybody asks for accounts.
const defaultAccount = "default"

// firstKey is the key that a box makes for itself when it has none.
type firstKey struct {
	made bool   // the box had no key; now it has this one
	file string // that holds it; empty where it is shown on a terminal
	store.Credentials
}

// makeFirstKey gives a box without keys one. Where its secrets cannot be shown
// on a terminal they go to a file in the data folder that only the box's user
// can read: a log or a pipe keeps what it is told for ever, for others to read.
func makeFirstKey(ctx context.Context, data string, terminal bool, records *store.Store) (firstKey, error) {
	known, err := records.ListKeys(ctx, "")
	if err != nil || len(known) > 0 {
		return firstKey{}, err
	}
	file := filepath.Join(data, layout.FirstKey)
	if !terminal {
		if _, err := os.Lstat(file); err == nil {
			return firstKey{}, fmt.Errorf("%s is there already and is not overwritten: move it away and start the "+
				"box again, or make a key with: parley keys create --data %s", file, data)
		}
	}
	made, err := records.CreateKey(ctx,
		store.NewKey{Account: defaultAccount, Label: "first start", Role: store.OperatorKey})
	if err != nil || terminal {
		return firstKey{made: err == nil, Credentials: made}, err
	}
	if err := writeFirstKey(file, made); err != nil {
		// A key whose secrets nobody has is of no use to anybody.
		return firstKey{}, errors.Join(fmt.Errorf("writing the first key: %w", err),
			records.RevokeKey(context.WithoutCancel(ctx), made.KeyID))
	}
	return firstKey{made: true, file: file, Credentials: made}, nil
}

// writeFirstKey writes the secrets to a new file, as variables that a shell
// can read.
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

// leftFirstKey is the file with the first key where it still lies in the data
// folder; empty where it does not.
func leftFirstKey(data string) string {
	file := filepath.Join(data, layout.FirstKey)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return file
}
