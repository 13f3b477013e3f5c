package update

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// The packs folder has a folder stagedPacks during an update, with the new packs and then
// the old ones. All are moved by renaming on one disk. Every access goes through an
// [os.Root], since the folder belongs to the user of the service, and its links must not
// lead root elsewhere.
const (
	stagedPacks = ".update"
	newPacks    = stagedPacks + "/new"
	oldPacks    = stagedPacks + "/old"
	failedPacks = stagedPacks + "/failed" // newPacks when all is back
)

// stagedNames returns the names of the staged packs: those that have an old one in the
// packs folder, and the others. It gives all of them to the owner of the packs folder.
func stagedNames(folder string) (replaced, added []string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return nil, nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, nil, errors.New("the owner of the packs folder is unknown")
	}
	staged, err := fs.ReadDir(root.FS(), newPacks)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range staged {
		_, err := root.Lstat(e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."): // no pack
		case err == nil:
			replaced = append(replaced, e.Name())
		case errors.Is(err, fs.ErrNotExist):
			added = append(added, e.Name())
		default:
			return nil, nil, err
		}
	}
	if err := root.MkdirAll(oldPacks, 0o755); err != nil {
		return nil, nil, err
	}
	return replaced, added, fs.WalkDir(root.FS(), stagedPacks, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(name, int(owner.Uid), int(owner.Gid))
	})
}

// replacePacks moves the old packs aside and the new ones in place.
func (u *Updater) replacePacks(j *journal) error {
	if len(j.Replace)+len(j.Add) == 0 {
		return nil
	}
	u.say("putting %d packs in place", len(j.Replace)+len(j.Add))
	root, err := os.OpenRoot(j.Packs)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Concat(j.Replace, j.Add) {
		// One of j.Add is there if the operator has fetched it since.
		err := root.Rename(name, path.Join(oldPacks, name))
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && slices.Contains(j.Add, name)) {
			return err
		}
		if err := root.Rename(path.Join(newPacks, name), name); err != nil {
			return err
		}
	}
	return nil
}

// returnPacks undoes what replacePacks has done, and deletes the new packs.
func (u *Updater) returnPacks(j *journal) error {
	if len(j.Replace)+len(j.Add) > 0 {
		u.say("putting the old packs back")
	}
	root, err := os.OpenRoot(j.Packs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = root.Lstat(newPacks)
	if errors.Is(err, fs.ErrNotExist) { // no packs, or all are back already
		return root.RemoveAll(stagedPacks)
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(j.Replace, j.Add) {
		if err := returnPack(root, name); err != nil {
			return err
		}
	}
	if err := root.Rename(newPacks, failedPacks); err != nil {
		return err
	}
	return root.RemoveAll(stagedPacks)
}

// returnPack moves a new pack back to the others, and then the old one, if there is one, back
// in place. A second call does nothing.
func returnPack(root *os.Root, name string) error {
	for _, move := range []struct{ from, to string }{
		{name, path.Join(newPacks, name)},
		{path.Join(oldPacks, name), name},
	} {
		_, err := root.Lstat(move.to)
		if err == nil { // not moved, or back already
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = root.Rename(move.from, move.to)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeStagedPacks deletes what an update has left in the packs folder.
func removeStagedPacks(folder string) error {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return root.RemoveAll(stagedPacks)
}
