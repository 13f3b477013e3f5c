package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long nothing may change before it is built: editors write a file
// in several steps, and save all of several.
const settle = 150 * time.Millisecond

// Watch calls changed once, and again whenever files of the project have changed,
// until ctx is done. While it runs, what changes is kept for the next time.
// changed is told the name of one of the files; empty at first.
func Watch(ctx context.Context, p Project, changed func(ctx context.Context, file string)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", named(p.Dir), err)
	}
	defer w.Close()
	if err := watchBelow(w, p.Dir, p.Dir); err != nil {
		return err
	}
	changed(ctx, "")
	quiet := time.NewTimer(settle)
	quiet.Stop()
	var last string
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-w.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("watch %s: %w", named(p.Dir), err)
			}
			last = "many files" // so many changed that some were not told
			quiet.Reset(settle)
		case e := <-w.Events:
			if ignored(p, e) {
				continue
			}
			if e.Has(fsnotify.Create) {
				if err := watchBelow(w, p.Dir, e.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			last, _ = filepath.Rel(p.Dir, e.Name)
			quiet.Reset(settle)
		case <-quiet.C:
			changed(ctx, last)
		}
	}
}

// watchBelow watches a folder and those in it. The kernel watches no trees.
func watchBelow(w *fsnotify.Watcher, root, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && foreign(d.Name()):
			return filepath.SkipDir
		}
		return w.Add(path)
	})
}

// foreign tells whether a folder is none that an author writes in.
func foreign(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"target", "node_modules", "build"}, name)
}

// ignored tells whether a change is none of the sources: what builds write, what
// editors keep beside a file, and what is only looked at.
func ignored(p Project, e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	made := filepath.Base(p.Wasm())
	return e.Op == fsnotify.Chmod || name == made || name == made+".part" || foreign(name) ||
		strings.HasSuffix(name, "~") || name == "4913" || // vim tries whether it may write with a file of that name
		slices.Contains([]string{"Cargo.lock", "package-lock.json", "go.sum"}, name)
}
