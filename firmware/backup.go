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
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A backup is a tar in zstd: first manifestName, then the database and every
// other file of the data folder, in the manifest's order. A file that was
// deleted while the backup was made is an empty member with deletedRecord set:
// what was deleted is in no backup that was made after it.
const (
	manifestName  = "parley-backup.json"
	databaseName  = "parley.db"
	deletedRecord = "PARLEY.deleted"
)

// backupFormat is the only format there has been.
const backupFormat = 1

// Manifest says what a backup holds.
type Manifest struct {
	Format int    `json:"format"`
	Parley string `json:"parley"`  // version of the Parley that made it
	Schema int64  `json:"schema"`  // version of the database's schema
	MadeMS int64  `json:"made_ms"` // Unix milliseconds
	Files  []File `json:"files"`   // names relative to the data folder
}

// Bytes is the size of all files together.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Keeping is the box of which a backup is made.
type Keeping struct {
	Data    string // its data folder
	Version string // of this Parley
	// Database writes the database as it is now to a new file, while the box
	// goes on, and returns its schema's version.
	Database func(ctx context.Context, file string, progress func(done, total int64)) (schema int64, err error)
}

// Backup writes all that a box must not lose into one new file, which only its
// owner can read, while the box runs: the database as it is at one moment, and
// the recordings, keys, certificates and settings that lie in the data folder.
// The file appears whole or not at all.
func Backup(ctx context.Context, box Keeping, file string, progress Progress) (Manifest, error) {
	progress = progress.serial()
	file, err := filepath.Abs(file)
	if err != nil {
		return Manifest{}, err
	}
	if err := checkTarget(box.Data, file); err != nil {
		return Manifest{}, err
	}
	// The names come before the database: a recording whose chat is not in it
	// would be nobody's.
	names, err := keptFiles(box.Data)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the data folder: %w", err)
	}
	stage, err := os.MkdirTemp(filepath.Dir(file), ".parley-backup-*") // mode 0700
	if err != nil {
		return Manifest{}, fmt.Errorf("%s cannot be written: %w: name a file in a folder that is there and can be written to", file, err)
	}
	defer os.RemoveAll(stage)
	b := backup{Keeping: box, stage: stage, progress: progress}
	if err := b.room(names); err != nil {
		return Manifest{}, err
	}
	if err := b.announce(ctx, names); err != nil {
		return Manifest{}, err
	}
	return b.manifest, b.write(ctx, file)
}

// checkTarget refuses what a backup would overwrite or be lost with.
func checkTarget(data, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s is there already: name another file, or delete it", file)
	}
	data, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	if strings.HasPrefix(file, data+string(filepath.Separator)) {
		return fmt.Errorf("%s lies in the data folder, and would be lost with it: name a file elsewhere, best on another disk", file)
	}
	return nil
}

// keptFiles returns the names of the files in the data folder that a backup
// copies as they are: all but the database, which needs more care, the lock,
// copies of the database, and what is being written under a name with a dot.
// Folders that an operator has moved to another disk, leaving a link, count.
func keptFiles(data string) ([]string, error) {
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		top := e.Name()
		if strings.HasPrefix(top, ".") || strings.HasPrefix(top, databaseName) || strings.HasPrefix(top, "parley-before-") || top == "parley.lock" {
			continue
		}
		below, err := filesBelow(filepath.Join(data, top))
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			names = append(names, filepath.ToSlash(filepath.Join(top, name)))
		}
	}
	return names, nil
}

// filesBelow returns the files in the folder root, relative to it; a file is
// "." in itself.
func filesBelow(root string) ([]string, error) {
	root, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // deleted as we looked
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") || !d.Type().IsRegular():
			return nil
		}
		below, err := filepath.Rel(root, path)
		names = append(names, below)
		return err
	})
	return names, err
}

// backup is one backup in the making.
type backup struct {
	Keeping
	stage    string // holds the copy of the database
	manifest Manifest
	progress Progress
}

// room says when the disk cannot hold the copy of the database and the file at
// once, taken as if nothing could be compressed: recordings cannot.
func (b *backup) room(names []string) error {
	var need int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(b.Data, databaseName+suffix)); err == nil {
			need += 2 * info.Size()
		}
	}
	for _, name := range names {
		if info, err := os.Stat(b.path(name)); err == nil {
			need += info.Size()
		}
	}
	folder := filepath.Dir(b.stage)
	free, err := freeBytes(folder)
	if err != nil {
		return err
	}
	if need += spare; free < need {
		return fmt.Errorf("%s has %d MB free, and the backup may need %d MB: make room, or name a file on another disk", folder, free/1e6, need/1e6)
	}
	return nil
}

// path is where the file of that name is read.
func (b *backup) path(name string) string {
	if name == databaseName {
		return filepath.Join(b.stage, name)
	}
	return filepath.Join(b.Data, filepath.FromSlash(name))
}

// announce copies the database and fills the manifest. Of a file that grows, a
// recording under way, the backup has what is there now.
func (b *backup) announce(ctx context.Context, names []string) error {
	now := time.Now()
	copying := Event{Pack: "database", Step: Writing}
	schema, err := b.Database(ctx, b.path(databaseName), func(done, total int64) {
		copying.Done, copying.Total = done, total
		b.progress(copying)
	})
	if err != nil {
		return err
	}
	copying.Step = Done
	b.progress(copying)
	b.manifest = Manifest{Format: backupFormat, Parley: b.Version, Schema: schema, MadeMS: now.UnixMilli()}
	e := Event{Pack: "checksums", Step: Reading}
	sizes := map[string]int64{}
	for _, name := range append([]string{databaseName}, names...) {
		if info, err := os.Stat(b.path(name)); err == nil {
			sizes[name] = info.Size()
			e.Total += info.Size()
		}
	}
	for _, name := range append([]string{databaseName}, names...) {
		size, there := sizes[name]
		if !there {
			continue // deleted since
		}
		sum, err := hashBeginning(ctx, b.path(name), size)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		b.manifest.Files = append(b.manifest.Files, File{name, size, sum})
		e.Done += size
		b.progress(e)
	}
	e.Step = Done
	b.progress(e)
	return nil
}

// write makes the file.
func (b *backup) write(ctx context.Context, file string) error {
	out, err := os.CreateTemp(b.stage, "backup-*") // mode 0600
	if err != nil {
		return err
	}
	err = b.writeTo(ctx, out)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(out.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return syncFolder(filepath.Dir(file))
}

func (b *backup) writeTo(ctx context.Context, w io.Writer) error {
	// The database shrinks to a third at the fastest level; recordings do not
	// shrink at any.
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	text, err := json.Marshal(b.manifest)
	if err != nil {
		return err
	}
	if err := t.WriteHeader(b.member(manifestName, int64(len(text)))); err != nil {
		return err
	}
	if _, err := t.Write(text); err != nil {
		return err
	}
	e := Event{Pack: "backup", Step: Writing, Total: b.manifest.Bytes()}
	for _, f := range b.manifest.Files {
		if err := b.add(ctx, t, f, &e); err != nil {
			return err
		}
	}
	e.Step = Done
	b.progress(e)
	return errors.Join(t.Close(), z.Close())
}

func (b *backup) member(name string, size int64) *tar.Header {
	return &tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: time.UnixMilli(b.manifest.MadeMS), Format: tar.FormatPAX}
}

func (b *backup) add(ctx context.Context, t *tar.Writer, f File, e *Event) error {
	in, err := os.Open(b.path(f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		gone := b.member(f.Name, 0)
		gone.PAXRecords = map[string]string{deletedRecord: "1"}
		return t.WriteHeader(gone)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if err := t.WriteHeader(b.member(f.Name, f.Bytes)); err != nil {
		return err
	}
	if err := copyChecked(ctx, t, in, f, e, b.progress); err != nil {
		return fmt.Errorf("%w (it changed while the backup was made: run it again)", err)
	}
	return nil
}
