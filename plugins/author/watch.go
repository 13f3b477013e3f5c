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

// quietTime is how long nothing may change before a build starts: editors write a file in
// several steps, and save several files at once.
const quietTime = 150 * time.Millisecond

// Watch calls changed once, and again whenever files of the project have changed, until ctx
// ends. Changes during a call lead to another call. changed gets the name of one of the
// files; empty in the first call.
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
	quiet := time.NewTimer(quietTime)
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
			last = "many files" // the kernel dropped some events
			quiet.Reset(quietTime)
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
			quiet.Reset(quietTime)
		case <-quiet.C:
			changed(ctx, last)
		}
	}
}

// watchBelow watches a folder and its subfolders, because the kernel watches single
// folders.
func watchBelow(w *fsnotify.Watcher, root, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !d.IsDir():
			return nil
		case path != root && generatedFolder(d.Name()):
			return filepath.SkipDir
		}
		return w.Add(path)
	})
}

// generatedFolder reports whether a folder contains nothing that an author writes.
func generatedFolder(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"target", "node_modules", "build"}, name)
}

// ignored reports whether a change concerns no source: build output, backup files of
// editors, and changes of metadata.
func ignored(p Project, e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	output := filepath.Base(p.Wasm())
	return e.Op == fsnotify.Chmod || name == output || name == output+".part" || generatedFolder(name) ||
		strings.HasSuffix(name, "~") || name == "4913" || // vim probes with a file of that name
		slices.Contains([]string{"Cargo.lock", "package-lock.json", "go.sum"}, name)
}
