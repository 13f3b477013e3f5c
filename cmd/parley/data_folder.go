package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"parley/appliance"
	"parley/internal/layout"
)

// noBox says that no box has its data in a folder and, where one is found, in
// which folder a box has. Only parley serve begins a data folder: what another
// command began would be a box of its own, whose keys open no other.
func noBox(data string) error {
	hint := ""
	if found := appliance.LikelyBox(data); found != "" {
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
