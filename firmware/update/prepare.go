package update

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"parley/firmware/release"
	"parley/internal/durable"
	"parley/internal/layout"
)

// Prepare makes everything ready that the update and the way back need: the new package
// and its packs, the old package, a copy of the running program, and a backup in the
// folder backups. The box runs on, and is not changed. Apply does the rest. After an
// error nothing is left but a finished backup.
func (u *Updater) Prepare(ctx context.Context, f *release.File, p Plan, backups string) (err error) {
	u.removeWork()
	if err := removeStagedPacks(u.Packs); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			u.removeWork()
			err = errors.Join(err, removeStagedPacks(u.Packs))
		}
	}()
	if err := os.Mkdir(u.work(), folderMode); err != nil {
		return err
	}
	for _, folder := range []string{newFolder, oldFolder, runFolder} {
		if err := os.MkdirAll(u.work(folder), 0o755); err != nil {
			return err
		}
	}
	j := journal{
		Format:  journalFormat,
		From:    p.From,
		To:      p.To,
		Data:    u.Data,
		Packs:   u.Packs,
		Schema:  p.NewSchema != p.OldSchema,
		User:    cmp.Or(os.Getenv("SUDO_USER"), "root"),
		BegunMS: time.Now().UnixMilli(),
	}
	if s, ok := u.Service.(Script); ok {
		j.Program = string(s)
	}
	if err := u.space(f, j.Schema); err != nil {
		return err
	}
	if err := u.stage(ctx, f, &j); err != nil {
		return err
	}
	if err := u.backup(ctx, backups, p.To); err != nil {
		return err
	}
	if err := u.space(nil, j.Schema); err != nil { // what the backup has left
		return err
	}
	if err := u.observe(ctx, &j); err != nil {
		return err
	}
	unix.Sync() // the packages and packs, before the journal names them
	return u.enter(&j, Prepared)
}

// space checks the space for the files that the update still writes: with a release file for
// its parts too.
func (u *Updater) space(f *release.File, schema bool) error {
	database, err := size(filepath.Join(u.Data, layout.Database))
	if err != nil || !schema {
		database = 0
	}
	needs := []need{{u.Data, 2 * database}} // the copy for the way back, and that of the new version
	if f != nil {
		deb := f.Manifest.Package().Bytes
		packs, _ := f.Manifest.Part(release.PacksName)
		needs = append(needs,
			// The parts, the old package and program, and the new package unpacked to the same
			// size as the installed one: a package is a third of that.
			need{u.Folder, f.Manifest.Bytes() - packs.Bytes + 3*3*deb},
			need{"/usr", 3 * deb},
			need{u.Packs, f.Manifest.PacksBytes})
	}
	return checkSpace(needs)
}

// stage writes the parts of the release file and the old package into the work folder.
func (u *Updater) stage(ctx context.Context, f *release.File, j *journal) error {
	u.say("unpacking %s", j.To)
	isPackage := func(name string) bool { return name != release.PacksName }
	if err := f.Extract(ctx, u.work(newFolder), isPackage, u.Progress); err != nil {
		return err
	}
	deb := u.work(newFolder, f.Manifest.Package().Name)
	if err := u.prepareApt(ctx); err != nil {
		return err
	}
	program, err := u.unpackProgram(ctx, deb, f.Manifest)
	if err != nil {
		return err
	}
	if err := u.stagePacks(ctx, f, program, j); err != nil {
		return err
	}
	u.say("packing %s for the way back", j.From)
	if _, err := Repack(ctx, u.work(oldFolder)); err != nil {
		return err
	}
	return u.copyProgram()
}

// copyProgram copies the running program, which ends the update after a power cut.
func (u *Updater) copyProgram() error {
	in, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := durable.Create(filepath.Join(u.Folder, programName), 0o755)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Commit()
}

// observe records what the old version can do: no more is asked of the new one.
func (u *Updater) observe(ctx context.Context, j *journal) (err error) {
	if j.Runs, err = u.Service.Runs(ctx); err != nil || !j.Runs {
		return err
	}
	if err := u.waitReady(ctx, u.Limits.Load); err != nil {
		u.say("the box runs, but is not ready: %v", err)
		return ctx.Err()
	}
	j.Ready = true
	if j.Key, err = u.Box.Key(ctx); err != nil {
		return err
	}
	u.say("asking %s a question", j.From)
	if err := u.ask(ctx, j.Key); err != nil {
		u.say("the box does not answer a spoken question: %v", err)
		return ctx.Err()
	}
	j.Answers = true
	return nil
}

// backupPattern matches the backups that updates make; storedBackups is how many stay.
const (
	backupPattern = "parley-before-*.tar.zst"
	storedBackups = 2
)

// backup makes a backup in a folder, and deletes those of updates before the last two.
func (u *Updater) backup(ctx context.Context, folder, to string) error {
	if old, err := size(filepath.Join(u.Data, layout.Database)); err != nil || old == 0 {
		return err // a box that never ran has nothing to lose
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	now := time.Now().UTC().Format("20060102T150405Z")
	file := filepath.Join(folder, fmt.Sprintf("parley-before-%s-%s.tar.zst", to, now))
	u.say("backing up to %s", file)
	if err := u.Box.Backup(ctx, file, u.Progress); err != nil {
		return fmt.Errorf("the backup: %w", err)
	}
	files, err := fs.Glob(os.DirFS(folder), backupPattern)
	if err != nil {
		return err
	}
	made := func(file string) string { return file[strings.LastIndex(file, "-"):] }
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(made(a), made(b)) })
	for _, old := range files[:max(0, len(files)-storedBackups)] {
		if err := os.Remove(filepath.Join(folder, old)); err != nil {
			return err
		}
	}
	return nil
}

// removeWork deletes what belongs to one update. What cannot be deleted is deleted by the
// next update.
func (u *Updater) removeWork() {
	_ = os.RemoveAll(u.work())
	_ = os.Remove(filepath.Join(u.Folder, programName))
}
