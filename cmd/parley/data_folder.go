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

// noBox says that no box has its data in a folder and, where one is found, in
// which folder a box has. Only parley serve begins a data folder: what another
// command began would be a box of its own, whose keys open no other.
func noBox(data string) error {
	hint := ""
	if found := box.Likely(data); found != "" {
		hint = fmt.Sprintf(": did you mean --data %s, where there is one?", found)
	}
	return misuse{fmt.Errorf("no box has its data in %s%s (parley serve --data %s begins one)", data, hint, data)}
}

// isNoBox tells whether there certainly is no box's database in data; one that
// this user may not look at may be there.
func isNoBox(data string) bool {
	_, err := os.Stat(filepath.Join(data, layout.Database))
	return errors.Is(err, fs.ErrNotExist)
}

// openStore opens the database of the box whose data lies in the folder of the
// settings, beside the box if it runs, until the command is over.
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

// account is the one of that name.
func account(ctx context.Context, s *store.Store, name string) (store.Account, error) {
	a, err := s.Account(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return a, fmt.Errorf("there is no account %.80q: parley keys list shows those that are", name)
	}
	return a, err
}

// accountID is the id of the account of that name; empty for no name.
func accountID(ctx context.Context, s *store.Store, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	a, err := account(ctx, s, name)
	return a.ID, err
}

// boxURLs is where a running box is reached: as this machine opens it, and as
// others do. url is empty for one that does not run.
func boxURLs(cfg config.Config) (url string, elsewhere []string, err error) {
	if url, err = box.Running(cfg.Data); err == nil {
		elsewhere, err = box.Elsewhere(cfg.Data)
	}
	return url, elsewhere, err
}
