package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/appliance/config"
	"parley/internal/layout"
	"parley/store"
)

// noBox says that no box has its data in a folder and, where one is found, in
// which folder a box has. Only parley serve begins a data folder: what another
// command began would be a box of its own, whose keys open no other.
func noBox(data string) error {
	hint := ""
	if found := likelyBox(data); found != "" {
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

// likelyBox is the data folder of a box that somebody meant who named data:
// the folder beside it whose name is nearest, else one at the usual places;
// empty where there is none.
func likelyBox(data string) string {
	parent := filepath.Dir(data)
	entries, _ := os.ReadDir(parent)
	var beside []string
	for _, e := range entries {
		if store.Exists(filepath.Join(parent, e.Name())) {
			beside = append(beside, e.Name())
		}
	}
	if near := config.Nearest(filepath.Base(data), beside); near != "" {
		return filepath.Join(parent, near)
	}
	usual := []string{layout.SystemData}
	if home, err := os.UserHomeDir(); err == nil {
		usual = append(usual, layout.InHome(home, layout.DefaultData))
	}
	for _, folder := range usual {
		if folder != data && store.Exists(folder) {
			return folder
		}
	}
	return ""
}
