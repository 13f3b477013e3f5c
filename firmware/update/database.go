package update

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/durable"
	"parley/internal/layout"
)

// databaseCopy is the copy of the database in the data folder, on the same disk, so that
// the way back needs no space. Backups leave it out, since its name begins with a dot.
const databaseCopy = ".parley-before-update.db"

// failedDatabase is the name of the database that the failed version of an update has left.
// It has what was said while that version ran. Backups leave it out.
func (j *journal) failedDatabase() string {
	return fmt.Sprintf("%s-of-%s-%s", layout.Database, j.To, time.UnixMilli(j.BegunMS).UTC().Format("20060102T150405Z"))
}

// saveDatabase copies the database of the stopped box, if the new version changes its
// schema.
func (u *Updater) saveDatabase(ctx context.Context, j *journal) error {
	if !j.Schema {
		return nil
	}
	_, err := os.Lstat(filepath.Join(j.Data, layout.Database))
	if j.None = errors.Is(err, fs.ErrNotExist); j.None {
		return nil
	}
	u.say("copying the database")
	copied := filepath.Join(j.Data, databaseCopy)
	if err := os.Remove(copied); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := u.Box.CopyDatabase(ctx, copied); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(j.Data, layout.Database))
	if err != nil {
		return err
	}
	f, err := os.OpenFile(copied, os.O_RDWR|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.New("the owner of the database is unknown")
	}
	err = errors.Join(f.Chown(int(owner.Uid), int(owner.Gid)), f.Chmod(info.Mode().Perm()), f.Sync())
	if err != nil {
		return fmt.Errorf("copying the database: %w", err)
	}
	return durable.SyncFolder(j.Data)
}

// returnDatabase puts the copy of the database in place, and the database of the failed
// version aside. The copy is gone when all is done, or the journal says so where there was
// no database, so a second call does nothing.
func (u *Updater) returnDatabase(j *journal) error {
	if !j.Schema {
		return nil
	}
	root, err := os.OpenRoot(j.Data)
	if err != nil {
		return err
	}
	defer root.Close()
	if j.None && j.Started {
		if err := setAside(root, j.failedDatabase()); err != nil {
			return err
		}
		j.None = false
		return u.enter(j, j.Step)
	}
	if _, err := root.Lstat(databaseCopy); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !j.Started { // nobody has used the database since, and the copy may be incomplete
		return root.Remove(databaseCopy)
	}
	u.say("putting the old database back")
	if err := setAside(root, j.failedDatabase()); err != nil {
		return err
	}
	if err := root.Rename(databaseCopy, layout.Database); err != nil {
		return err
	}
	return durable.SyncFolder(j.Data)
}

// setAside renames the database of the failed version, if there is one.
func setAside(root *os.Root, name string) error {
	// The log first: without it, the database is the older one or none.
	for _, suffix := range []string{"-wal", "-shm", ""} {
		err := root.Rename(layout.Database+suffix, name+suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// removeDatabaseCopy deletes the copy of the database.
func (u *Updater) removeDatabaseCopy(j *journal) error {
	err := os.Remove(filepath.Join(j.Data, databaseCopy))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
