package firmware

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// maxManifest bounds what is read before anything is known of the file: the
// manifest of a million recordings.
const maxManifest = 256 << 20

// Restoring is where a backup goes.
type Restoring struct {
	Data   string // the data folder; no box may run on it
	Schema int64  // the newest schema that this Parley knows
	// Force moves a folder that holds something aside; without it that is an
	// error.
	Force bool
	// Check opens what was restored, before it is put in place, and says what
	// is wrong with it.
	Check func(ctx context.Context, folder string) error
}

var errNotBackup = errors.New("it is not a file that parley backup wrote")

// Restore makes the data folder what it was when the backup in file was made.
// Everything is checked first, and then put in place in one step: after an
// error the folder is as it was. What was there before is kept, at the path
// returned; that is empty when nothing was.
func Restore(ctx context.Context, file string, to Restoring, progress Progress) (m Manifest, aside string, err error) {
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
		return m, "", fmt.Errorf("the data folder %s is not empty: name another with --data, or pass --force to have what is there moved aside", to.Data)
	}
	z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return m, "", err
	}
	defer z.Close()
	stage, err := os.MkdirTemp(filepath.Dir(to.Data), filepath.Base(to.Data)+".restoring-*") // mode 0700
	if err != nil {
		return m, "", fmt.Errorf("the folder that is to hold %s cannot be written: %w: run this as its owner, or name another with --data", to.Data, err)
	}
	m, err = to.unpack(ctx, z, stage, progress.serial())
	if err == nil {
		err = to.Check(ctx, stage)
	}
	if err == nil {
		err = likeBefore(stage, to.Data)
	}
	if err == nil {
		err = placed(putInPlace(stage, to.Data), to.Data)
	}
	if err != nil {
		err = fmt.Errorf("restoring %s: %w: nothing was changed", file, err)
		return m, "", errors.Join(err, os.RemoveAll(stage))
	}
	aside, err = putAside(stage, to.Data)
	return m, aside, errors.Join(err, syncFolder(filepath.Dir(to.Data)))
}

// realPath is the path behind the links on the way, as far as there is one.
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

// occupied tells whether the folder holds something; a lock is nothing.
func occupied(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		if e.Name() != "parley.lock" {
			return true, nil
		}
	}
	return false, err
}

// unpack writes the files of the backup into the stage.
func (to Restoring) unpack(ctx context.Context, r io.Reader, stage string, progress Progress) (Manifest, error) {
	t := tar.NewReader(r)
	m, err := readManifest(t)
	if err != nil {
		return m, err
	}
	if m.Schema > to.Schema {
		return m, fmt.Errorf("it was made by a newer Parley (%.40q): its database has schema %d, and this Parley (up to %d) cannot read it; install that one first", m.Parley, m.Schema, to.Schema)
	}
	free, err := freeBytes(stage)
	if err != nil {
		return m, err
	}
	if need := m.Bytes() + spare; free < need {
		return m, fmt.Errorf("%s has %d MB free, and %d MB are needed", filepath.Dir(stage), free/1e6, need/1e6)
	}
	e := Event{Pack: "backup", Step: Reading, Total: m.Bytes()}
	for _, f := range m.Files {
		if err := unpackFile(ctx, t, f, stage, &e, progress); err != nil {
			return m, err
		}
	}
	e.Step = Done
	progress(e)
	return m, atEnd(t, r)
}

func unpackFile(ctx context.Context, t *tar.Reader, f File, stage string, e *Event, progress Progress) error {
	h, err := t.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the file ends before %s: it is cut off, copy it again", f.Name)
	}
	if err != nil {
		return fmt.Errorf("the file is damaged: %w", err)
	}
	deleted := h.PAXRecords[deletedRecord] != "" && f.Name != databaseName
	if h.Typeflag != tar.TypeReg || h.Name != f.Name || h.Size != f.Bytes && !deleted {
		return fmt.Errorf("it has %q of %d bytes where %q of %d should be", h.Name, h.Size, f.Name, f.Bytes)
	}
	if deleted {
		e.Done += f.Bytes
		return nil
	}
	return importFile(ctx, t, f, filepath.Join(stage, filepath.FromSlash(f.Name)), e, progress)
}

// readManifest reads what the backup holds and believes none of it that could
// do harm.
func readManifest(t *tar.Reader) (m Manifest, err error) {
	h, err := t.Next()
	if err != nil {
		return m, fmt.Errorf("%w, or it is damaged: %w", errNotBackup, err)
	}
	if h.Name != manifestName || h.Size > maxManifest {
		return m, errNotBackup
	}
	if err := json.NewDecoder(io.LimitReader(t, maxManifest)).Decode(&m); err != nil {
		return m, fmt.Errorf("%w, or it is damaged: %w", errNotBackup, err)
	}
	if m.Format != backupFormat {
		return m, fmt.Errorf("it has format %d, and this Parley reads format %d: restore it with the Parley that made it (%.40q)", m.Format, backupFormat, m.Parley)
	}
	seen := map[string]bool{}
	var total int64
	for _, f := range m.Files {
		if total += f.Bytes; !fs.ValidPath(f.Name) || f.Name == "." || seen[f.Name] || f.Bytes < 0 || total < 0 {
			return m, fmt.Errorf("%w: it announces %q of %d bytes", errNotBackup, f.Name, f.Bytes)
		}
		seen[f.Name] = true
	}
	if !seen[databaseName] {
		return m, fmt.Errorf("%w: it holds no database", errNotBackup)
	}
	return m, nil
}

// likeBefore gives the files of the stage to their owner only: to the owner of
// the folder that they replace, for a box seldom runs as the user who restores.
// All of it is on the disk then.
func likeBefore(stage, data string) error {
	var before unix.Stat_t
	err := unix.Stat(data, &before)
	given := err == nil && os.Geteuid() == 0
	return filepath.WalkDir(stage, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		if err := os.Chmod(path, mode); err != nil {
			return err
		}
		if given {
			if err := os.Chown(path, int(before.Uid), int(before.Gid)); err != nil {
				return err
			}
		}
		if d.IsDir() {
			return syncFolder(path)
		}
		return nil
	})
}

// placed says what to do when a folder could not be put in place.
func placed(err error, data string) error {
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is where a disk is mounted, and cannot be replaced as a whole: restore into a folder on it, with --data %s, and start the box with that", data, filepath.Join(data, "parley"))
	}
	if err != nil {
		return fmt.Errorf("putting the backup in place: %w", err)
	}
	return nil
}

// putAside gives what was the data folder, and lies at old now, a name by which
// it is found, and returns that. An empty one is deleted.
func putAside(old, data string) (string, error) {
	taken, err := occupied(old)
	if err != nil {
		return old, err
	}
	if !taken {
		return "", os.RemoveAll(old)
	}
	aside := data + ".before-restore-" + time.Now().Format("20060102-150405")
	if err := os.Rename(old, aside); err != nil {
		return old, err
	}
	return aside, nil
}
