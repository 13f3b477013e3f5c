package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"parley/internal/bundle"
	"parley/internal/disk"
	"parley/internal/durable"
	"parley/internal/layout"
	"parley/internal/progress"
)

// maxManifest bounds the manifest, which is read before the file can be trusted: that of
// a million recordings.
const maxManifest = 256 << 20

// Target is where to restore a backup.
type Target struct {
	Data   string // the data folder; no box may run on it
	Schema int64  // the newest schema of this Parley
	// Force moves aside a folder that is not empty, which is an error otherwise.
	Force bool
	// Check opens what was restored, before it is put in place, and returns what is wrong
	// with it.
	Check func(ctx context.Context, folder string) error
}

var errNotBackup = errors.New("it is not a file that parley backup wrote")

// Restore restores the data folder from the backup in file. It checks everything first,
// and then replaces the folder in one step: after an error the folder is as it was. The
// previous folder stays at the path aside, which is empty if there was none.
func Restore(ctx context.Context, file string, to Target, tell progress.Func) (m Manifest, aside string, err error) {
	in, err := os.Open(file)
	if err != nil {
		return m, "", fmt.Errorf("restoring: %w", err)
	}
	defer in.Close()
	if to.Data, err = realPath(to.Data); err != nil {
		return m, "", err
	}
	taken, err := occupied(to.Data)
	if err != nil {
		return m, "", err
	}
	if taken && !to.Force {
		return m, "", fmt.Errorf("the data folder %s is not empty: name another with --data, or pass --force to move "+
			"its contents aside", to.Data)
	}
	r, err := bundle.NewReader(in)
	if err != nil {
		return m, "", err
	}
	defer r.Close()
	stage, err := durable.NewStage(filepath.Dir(to.Data), filepath.Base(to.Data)+".restoring-")
	if err != nil {
		return m, "", fmt.Errorf("the parent folder of %s cannot be written: %w: run this as its owner, or "+
			"name another with --data", to.Data, err)
	}
	m, err = to.unpack(ctx, r, stage.Path, tell.Serial())
	if err == nil {
		err = to.Check(ctx, stage.Path)
	}
	if err == nil {
		err = keepPluginKey(stage.Path, to.Data)
	}
	if err == nil {
		err = keepRevoked(stage.Path, to.Data)
	}
	if err == nil {
		err = setOwnership(stage.Path, to.Data)
	}
	if err == nil {
		aside, err = exchange(stage.Path, to.Data)
	}
	if err != nil {
		err = fmt.Errorf("restoring %s: %w: nothing was changed", file, err)
		return m, "", errors.Join(err, stage.Remove())
	}
	moved := keepStreams(to.Data, aside)
	aside, err = dropIfEmpty(aside)
	return m, aside, errors.Join(err, moved, stage.Release(), durable.SyncFolder(filepath.Dir(to.Data)))
}

// realPath resolves the links in a path, if it exists.
func realPath(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir, nil
	}
	return real, err
}

// occupied reports whether the folder contains anything except a lock or an address.
func occupied(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if e.Name() != layout.Lock && e.Name() != layout.Address {
			return true, nil
		}
	}
	return false, err
}

// unpack writes the files of the backup into the stage.
func (to Target) unpack(ctx context.Context, r *bundle.Reader, stage string, tell progress.Func) (Manifest, error) {
	m, err := readManifest(r)
	if err != nil {
		return m, err
	}
	if m.Schema > to.Schema {
		return m, fmt.Errorf("it was made by a newer Parley (%.40q): its database has schema %d, and this Parley (up "+
			"to %d) cannot read it; install that one first", m.Parley, m.Schema, to.Schema)
	}
	free, err := disk.Free(stage)
	if err != nil {
		return m, err
	}
	if need := m.Bytes() + disk.Spare; free < need {
		return m, fmt.Errorf("%s has %d MB free, and %d MB are needed", filepath.Dir(stage), free/1e6, need/1e6)
	}
	e := progress.Event{Name: "backup", Step: progress.Unpacking, Total: m.Bytes()}
	for _, f := range m.Files {
		before := e.Done
		heard := func(bytes int64) {
			e.Done += bytes
			tell(e)
		}
		var err error
		if slices.Contains(m.LeftOut, f.Name) {
			err = r.Skip(ctx, f.Name, f, heard)
		} else {
			err = extract(ctx, r, f, stage, heard)
		}
		if errors.Is(err, bundle.ErrDeleted) && f.Name != databaseName {
			e.Done, err = before+f.Bytes, nil
		}
		if err != nil {
			return m, err
		}
	}
	e.Step = progress.Done
	tell(e)
	return m, r.End()
}

// extract writes a file of the backup into the stage. A program is an error.
func extract(ctx context.Context, r *bundle.Reader, f bundle.File, stage string, tell func(bytes int64)) error {
	path := filepath.Join(stage, filepath.FromSlash(f.Name))
	if err := r.Extract(ctx, f.Name, f, path, tell); err != nil {
		return err
	}
	program, err := isProgram(path)
	if err == nil && program {
		err = fmt.Errorf("%w: %q is a program or a library, and no backup has one", errNotBackup, f.Name)
	}
	return err
}

// readManifest reads the manifest and checks it, since it is not trusted.
func readManifest(r *bundle.Reader) (m Manifest, err error) {
	if err := r.Header(manifestName, maxManifest, &m); err != nil {
		return m, fmt.Errorf("%w: %w", errNotBackup, err)
	}
	if m.Format != backupFormat {
		return m, fmt.Errorf("it has format %d, and this Parley reads format %d: restore it with the Parley that "+
			"made it (%.40q)", m.Format, backupFormat, m.Parley)
	}
	seen := map[string]bool{}
	var total int64
	for _, f := range m.Files {
		if total += f.Bytes; seen[f.Name] || f.Bytes < 0 || total < 0 {
			return m, fmt.Errorf("%w: it lists %q with %d bytes", errNotBackup, f.Name, f.Bytes)
		}
		seen[f.Name] = true
		if f.Name == layout.FirstKey { // which backups of older versions have
			m.LeftOut = append(m.LeftOut, f.Name)
		} else if !includes(f.Name) {
			return m, fmt.Errorf("%w: it lists %q, which no backup contains: it was tampered with",
				errNotBackup, f.Name)
		}
	}
	if !seen[databaseName] {
		return m, fmt.Errorf("%w: it has no database", errNotBackup)
	}
	return m, nil
}

// keepPluginKey copies the key of the plugins' secrets, which is in no backup, from the
// previous folder.
func keepPluginKey(stage, data string) error {
	key, err := os.ReadFile(filepath.Join(data, layout.PluginKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(stage, layout.PluginKey), key, 0o600)
}

// setOwnership gives the files of the stage to the owner of the previous folder, since
// the user who restores is seldom the user of the box, and makes them unreadable to
// others, except what clients must trust. It also syncs the folders.
func setOwnership(stage, data string) error {
	var before unix.Stat_t
	err := unix.Stat(data, &before)
	given := err == nil && os.Geteuid() == 0
	return filepath.WalkDir(stage, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := os.Chmod(path, modeOf(stage, path, d)); err != nil {
			return err
		}
		if given {
			if err := os.Chown(path, int(before.Uid), int(before.Gid)); err != nil {
				return err
			}
		}
		if d.IsDir() {
			return durable.SyncFolder(path)
		}
		return nil
	})
}

// modeOf returns the mode of a file in a restored data folder.
func modeOf(folder, path string, d fs.DirEntry) fs.FileMode {
	switch {
	case path == folder:
		return layout.DataMode
	case d.IsDir():
		return 0o700
	case path == filepath.Join(folder, layout.Authority):
		return 0o644
	}
	return 0o600
}

// exchange puts the stage in the place of the data folder, and returns where the previous
// folder is. After an error nothing has changed.
func exchange(stage, data string) (aside string, err error) {
	// The stage is renamed first, so that the previous folder never has the name of a
	// stage: stages of dead processes are deleted.
	aside = data + ".before-restore-" + time.Now().Format("20060102-150405")
	if _, err := os.Lstat(aside); err == nil { // of a restore in the same second
		aside += "-" + strconv.Itoa(time.Now().Nanosecond())
	}
	if err := os.Rename(stage, aside); err != nil {
		return "", err
	}
	err = durable.Replace(aside, data)
	if err == nil {
		return aside, nil
	}
	if errors.Is(err, unix.EBUSY) {
		err = fmt.Errorf("%s is a mount point, and cannot be replaced as a whole: restore into a folder on "+
			"it, with --data %s, and start the box with that", data, filepath.Join(data, "parley"))
	} else {
		err = fmt.Errorf("putting the backup in place: %w", err)
	}
	return "", errors.Join(err, os.RemoveAll(aside))
}

// dropIfEmpty returns the path of the previous data folder, or deletes it and returns
// nothing if it is empty.
func dropIfEmpty(aside string) (string, error) {
	taken, err := occupied(aside)
	if err != nil || taken {
		return aside, err
	}
	return "", os.RemoveAll(aside)
}
