package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/appliance/box"
	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

// noBox is the error for a folder without a box's database; it names a folder with one if
// it finds it. Only parley serve creates a data folder: one that another command created
// would be a separate box whose keys work nowhere else.
func noBox(data string) error {
	hint := ""
	if found := box.GuessDataFolder(data); found != "" {
		hint = fmt.Sprintf(": did you mean --data %s, which has a box?", found)
	}
	return misuse{fmt.Errorf("no box has its data in %s%s (parley serve --data %s creates one)", data, hint, data)}
}

// isNoBox reports whether there certainly is no box's database in data. If this user may
// not look, there may be one.
func isNoBox(data string) bool {
	_, err := os.Stat(filepath.Join(data, layout.Database))
	return errors.Is(err, fs.ErrNotExist)
}

// openStore opens the database of the box with these settings, running or not, until the
// command ends.
func (c *console) openStore(ctx context.Context, cfg config.Config) (*store.Store, error) {
	s, err := store.Join(ctx, cfg.Data)
	if errors.Is(err, store.ErrNotFound) {
		err = noBox(cfg.Data)
	}
	if err != nil {
		return nil, err
	}
	c.closers = append(c.closers, s.Close)
	return s, nil
}

// account returns the account with that name.
func account(ctx context.Context, s *store.Store, name string) (store.Account, error) {
	a, err := s.Account(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return a, fmt.Errorf("there is no account %.80q: parley keys list shows the accounts", name)
	}
	return a, err
}

// accountID returns the id of the account with that name; empty for an empty name.
func accountID(ctx context.Context, s *store.Store, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := account(ctx, s, name)
	return a.ID, err
}

// boxURLs returns the addresses of the running box: for this machine, and for others. url
// is empty if the box does not run.
func boxURLs(cfg config.Config) (url string, elsewhere []string, err error) {
	if url, err = box.Running(cfg.Data); err == nil {
		elsewhere, err = box.Elsewhere(cfg.Data)
	}
	return url, elsewhere, err
}
