package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Inherit gives a new file or folder to the owner of the folder that it is in, if this
// process is root. Root may work on the data of a box, and the box seldom runs as root.
func Inherit(path string) error {
	owner, err := ownerOf(filepath.Dir(path))
	if err != nil || owner == nil {
		return err
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// InheritAll gives all that root has in a folder to the owner of the folder, if this process
// is root. It follows no links: the owner may have put some there. A missing folder is no
// error.
func InheritAll(folder string) error {
	owner, err := ownerOf(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || owner == nil || owner.Uid == 0 {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if of, ok := info.Sys().(*syscall.Stat_t); !ok || of.Uid != 0 {
			return nil
		}
		return root.Lchown(path, int(owner.Uid), int(owner.Gid))
	})
	return errors.Join(err, root.Close())
}

// ownerOf returns who owns a folder, and nil if this process is not root.
func ownerOf(folder string) (*syscall.Stat_t, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, err
	}
	owner, _ := info.Sys().(*syscall.Stat_t)
	return owner, nil
}
