// Package backup writes all that a box must not lose into one file, and brings
// it back.
package backup

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parley/internal/bundle"
	"parley/internal/disk"
	"parley/internal/durable"
	"parley/internal/layout"
	"parley/internal/progress"
)

// A backup is a bundle: the manifest under manifestName, then the database and every
// other file of the data folder, in the manifest's order. Of a file that was
// deleted while the backup was made it says only that it is gone: what was
// deleted is in no backup that was made after it.
const (
	manifestName = "parley-backup.json"
	databaseName = layout.Database
)

// backupFormat is the only format there has been.
const backupFormat = 1

// Manifest says what a backup holds.
type Manifest struct {
	Format int           `json:"format"`
	Parley string        `json:"parley"`  // version of the Parley that made it
	Schema int64         `json:"schema"`  // version of the database's schema
	MadeMS int64         `json:"made_ms"` // Unix milliseconds
	Files  []bundle.File `json:"files"`   // names relative to the data folder
	// LeftOut are those of Files that were not restored.
	LeftOut []string `json:"-"`
}

// Bytes is the size of all files together.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Box is the box of which a backup is made.
type Box struct {
	Data    string // its data folder
	Version string // of this Parley
	// Database writes the database as it is now to a new file, while the box
	// goes on, and returns its schema's version.
	Database func(ctx context.Context, file string, progress func(done, total int64)) (schema int64, err error)
}

// Make writes all that a box must not lose into one new file, which only its
// owner can read, while the box runs: the database as it is at one moment, and
// the recordings, keys, certificates and settings that lie in the data folder.
// The file appears whole or not at all.
func Make(ctx context.Context, box Box, file string, tell progress.Func) (Manifest, error) {
	tell = tell.Serial()
	file, err := filepath.Abs(file)
	if err != nil {
		return Manifest{}, err
	}
	if err := checkTarget(box.Data, file); err != nil {
		return Manifest{}, err
	}
	// The names come before the database: a recording whose chat is not in it
	// would be nobody's.
	names, err := includedFiles(box.Data)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the data folder: %w", err)
	}
	stage, err := durable.NewStage(filepath.Dir(file), ".parley-backup-")
	if err != nil {
		return Manifest{},
			fmt.Errorf("%s cannot be written: %w: name a file in a folder that is there and can be written to", file,
				err)
	}
	defer stage.Remove()
	b := backup{Box: box, stage: stage.Path, report: tell}
	if err := b.checkSpace(names); err != nil {
		return Manifest{}, err
	}
	if err := b.buildManifest(ctx, names); err != nil {
		return Manifest{}, err
	}
	if err := b.write(ctx, file); err != nil {
		return b.manifest, err
	}
	// The backup is whole, also where the box cannot be told of it: a folder that
	// is read only can be saved.
	_ = writeSummary(box.Data, Summary{b.manifest.MadeMS, b.manifest.Bytes()})
	return b.manifest, nil
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
		return fmt.Errorf(
			"%s lies in the data folder, and would be lost with it: name a file elsewhere, best on another disk", file)
	}
	return nil
}

// excluded is what a backup leaves out: what is computed anew, what is of the box that
// runs, the key of the plugins' secrets, without which those in the database are
// nobody's, and the secrets of the first key, which are to lie in one place only.
var excluded = []string{
	layout.Address,
	layout.FirstKey,
	layout.LastBackup,
	layout.Lock,
	layout.PluginCache,
	layout.PluginKey,
	layout.Prompts,
}

// includes tells whether a backup has files of that name, relative to the data folder,
// or below it. Of what the database is made of it has the file itself alone, and
// nothing that begins with a dot: that is being written, or is a signal or a lock. A
// disk may not tell small letters from capitals, so neither does this.
func includes(name string) bool {
	if name == databaseName {
		return true
	}
	if !fs.ValidPath(name) {
		return false
	}
	parts := strings.Split(strings.ToLower(name), "/")
	isCopy, err := filepath.Match(layout.DatabaseCopies, parts[0])
	if err != nil || isCopy || strings.HasPrefix(parts[0], databaseName) || slices.Contains(excluded, parts[0]) {
		return false
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") })
}

// isProgram tells whether a file is a program or a library of Linux (ELF). A box
// includes none in its data folder, and settings in a backup could have it load one.
func isProgram(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	begins := make([]byte, len(elf.ELFMAG))
	if _, err := io.ReadFull(f, begins); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return string(begins) == elf.ELFMAG, nil
}

// includedFiles returns the names of the files in the data folder that a backup copies
// as they are: all that it keeps but the database, which needs more care. Folders
// that an operator has moved to another disk, leaving a link, count.
func includedFiles(data string) ([]string, error) {
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		top := e.Name()
		if top == databaseName || !includes(top) {
			continue
		}
		below, err := filesBelow(filepath.Join(data, top))
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			path := filepath.Join(data, top, name)
			program, err := isProgram(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if name = filepath.ToSlash(filepath.Join(top, name)); includes(name) && !program {
				names = append(names, name)
			}
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
	Box
	stage    string // holds the copy of the database
	manifest Manifest
	report   progress.Func
}

// checkSpace says when the disk cannot hold the copy of the database and the file at
// once, taken as if nothing could be compressed: recordings cannot.
func (b *backup) checkSpace(names []string) error {
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
	free, err := disk.Free(folder)
	if err != nil {
		return err
	}
	if need += disk.Spare; free < need {
		return fmt.Errorf("%s has %d MB free, and the backup may need %d MB: make room, or name a file on another disk",
			folder, free/1e6, need/1e6)
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

// buildManifest copies the database and fills the manifest. Of a file that grows, a
// recording under way, the backup has what is there now.
func (b *backup) buildManifest(ctx context.Context, names []string) error {
	now := time.Now()
	copying := progress.Event{Name: "database", Step: progress.Writing}
	schema, err := b.Database(ctx, b.path(databaseName), func(done, total int64) {
		copying.Done, copying.Total = done, total
		b.report(copying)
	})
	if err != nil {
		return err
	}
	copying.Step = progress.Done
	b.report(copying)
	b.manifest = Manifest{
		Format: backupFormat,
		Parley: b.Version,
		Schema: schema,
		MadeMS: now.UnixMilli(),
	}
	e := progress.Event{Name: "checksums", Step: progress.Checking}
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
		sum, err := bundle.HashPrefix(ctx, b.path(name), size)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		b.manifest.Files = append(b.manifest.Files, bundle.File{Name: name, Bytes: size, SHA256: sum})
		e.Done += size
		b.report(e)
	}
	e.Step = progress.Done
	b.report(e)
	return nil
}

// write makes the file.
func (b *backup) write(ctx context.Context, file string) error {
	out, err := durable.Create(file, 0o600)
	if err != nil {
		return err
	}
	defer out.Discard()
	err = b.writeTo(ctx, out)
	if err == nil {
		err = out.Commit()
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

func (b *backup) writeTo(ctx context.Context, to io.Writer) error {
	w, err := bundle.NewWriter(to, time.UnixMilli(b.manifest.MadeMS), 0o600)
	if err != nil {
		return err
	}
	if err := w.Header(manifestName, b.manifest); err != nil {
		return err
	}
	e := progress.Event{Name: "backup", Step: progress.Writing, Total: b.manifest.Bytes()}
	for _, f := range b.manifest.Files {
		if err := b.add(ctx, w, f, &e); err != nil {
			return err
		}
	}
	e.Step = progress.Done
	b.report(e)
	return w.Close()
}

func (b *backup) add(ctx context.Context, w *bundle.Writer, f bundle.File, e *progress.Event) error {
	in, err := os.Open(b.path(f.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return w.AddDeleted(f.Name)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	err = w.Add(ctx, f.Name, f, in, func(bytes int64) {
		e.Done += bytes
		b.report(*e)
	})
	if err != nil {
		return fmt.Errorf("%w (it changed while the backup was made: run it again)", err)
	}
	return nil
}
