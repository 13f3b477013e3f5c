// Package backup writes all data of a box that must not be lost into one file, and
// restores it.
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

// A backup is a bundle: the manifest under manifestName, then the database and every other
// file of the data folder, in the manifest's order. A file that is deleted while the backup
// is made is only marked as deleted, so that no later backup contains deleted data.
const (
	manifestName = "parley-backup.json"
	databaseName = layout.Database
)

// backupFormat is the only format so far.
const backupFormat = 1

// Manifest lists the contents of a backup.
type Manifest struct {
	Format int           `json:"format"`
	Parley string        `json:"parley"`  // version of the Parley that made it
	Schema int64         `json:"schema"`  // version of the database's schema
	MadeMS int64         `json:"made_ms"` // Unix milliseconds
	Files  []bundle.File `json:"files"`   // names relative to the data folder
	// LeftOut names those of Files that were not restored.
	LeftOut []string `json:"-"`
}

// Bytes returns the size of all files.
func (m Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Bytes
	}
	return n
}

// Box is the box to back up.
type Box struct {
	Data    string // its data folder
	Version string // of this Parley
	// Database writes the current database to a new file, while the box runs, and returns
	// its schema version.
	Database func(ctx context.Context, file string, progress func(done, total int64)) (schema int64, err error)
}

// Make writes a backup to a new file, which only its owner can read, while the box runs:
// the database at one moment, and the recordings, files of analysis jobs, keys,
// certificates and settings of the data folder. The file appears whole or not at all.
func Make(ctx context.Context, box Box, file string, tell progress.Func) (Manifest, error) {
	tell = tell.Serial()
	file, err := filepath.Abs(file)
	if err != nil {
		return Manifest{}, err
	}
	if err := checkTarget(box.Data, file); err != nil {
		return Manifest{}, err
	}
	// The files are listed before the database is copied: every recording then has its
	// chat in the copy.
	names, err := includedFiles(box.Data)
	if err != nil {
		return Manifest{}, fmt.Errorf("reading the data folder: %w", err)
	}
	stage, err := durable.NewStage(filepath.Dir(file), ".parley-backup-")
	if err != nil {
		return Manifest{},
			fmt.Errorf("%s cannot be written: %w: name a file in a writable folder", file,
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
	// The summary is optional: a read-only data folder can be backed up too.
	_ = writeSummary(box.Data, Summary{b.manifest.MadeMS, b.manifest.Bytes()})
	return b.manifest, nil
}

// checkTarget refuses files that a backup would overwrite or be lost with.
func checkTarget(data, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists: name another file, or delete it", file)
	}
	data, err := filepath.Abs(data)
	if err != nil {
		return err
	}
	if strings.HasPrefix(file, data+string(filepath.Separator)) {
		return fmt.Errorf(
			"%s is in the data folder, and would be lost with it: name a file elsewhere, best on another disk", file)
	}
	return nil
}

// excluded are files that a backup leaves out: what can be recomputed, what belongs to the
// running box, the key of the plugins' secrets, without which the secrets in the database
// cannot be decrypted, and the secrets of the first key, which should have no copies.
var excluded = []string{
	layout.Address,
	layout.AnswerSound,
	layout.FirstKey,
	layout.FleetPlugins,
	layout.FleetSettings,
	layout.LastBackup,
	layout.Lock,
	layout.PluginCache,
	layout.PluginKey,
	layout.Prompts,
}

// includes reports whether a backup includes the file with that name, relative to the
// data folder. Of the database it includes only the file itself. It includes no names
// that begin with a dot: those are temporary files, signals or locks. Letter case does
// not matter, since it does not on some disks.
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
	if parts[0] == layout.Fleet && len(parts) > 1 {
		return name == fleetKeys
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") })
}

// fleetKeys is the only file of a hub's fleet that a backup includes: the keys, without which every box would have to
// join again. What the NATS server stores changes while it is copied, and the hub makes the rest at each start.
const fleetKeys = layout.Fleet + "/" + layout.FleetKeys

// isProgram reports whether a file is a Linux program or library (ELF). A box has none in
// its data folder, and settings in a backup could make the box load one.
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

// includedFiles returns the names of the files that a backup copies as they are: all that
// it includes except the database. Links to folders, with which operators move data to
// another disk, are followed.
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

// filesBelow returns the files in the folder root, relative to it. If root is a file, it
// returns ".".
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
			return nil // deleted meanwhile
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

// backup is a backup that is being made.
type backup struct {
	Box
	stage    string // has the copy of the database
	manifest Manifest
	report   progress.Func
}

// checkSpace returns an error if the disk cannot hold the copy of the database and the
// file at once, without compression: recordings do not compress.
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
		return fmt.Errorf("%s has %d MB free, and the backup may need %d MB: free some space, "+
			"or name a file on another disk",
			folder, free/1e6, need/1e6)
	}
	return nil
}

// path returns where to read the file with that name.
func (b *backup) path(name string) string {
	if name == databaseName {
		return filepath.Join(b.stage, name)
	}
	return filepath.Join(b.Data, filepath.FromSlash(name))
}

// buildManifest copies the database and lists the files. Of a growing file, such as a
// recording in progress, the backup has the present length.
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

// write writes the file.
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
