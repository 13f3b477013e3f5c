package packs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"parley/internal/bundle"
	"parley/internal/durable"
)

// stageName is the folder inside the packs folder in which packs are assembled, so that a
// finished pack is installed by renaming.
const stageName = ".stage"

// A stage is where a pack is assembled. What was fetched stays there until the pack is
// complete, so that an interrupted pull can continue.
//
//	files/    the future folder of the pack; parts are written at their offset in a file
//	done/N    the Nth source's parts are there and were valid
//	build     which build this is: for another one the stage starts over
type stage struct {
	folder string
	pack   Pack
	build  Build
}

// openStage opens or creates the stage of a pack, and links its valid files into it.
func openStage(dir string, state State) (*stage, error) {
	build, _ := state.Pack.Build()
	s := &stage{filepath.Join(dir, stageName, state.Pack.Name), state.Pack, build}
	text, err := json.Marshal(build)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	id := hex.EncodeToString(sum[:])
	mark := filepath.Join(s.folder, "build")
	if was, err := os.ReadFile(mark); err != nil || string(was) != id {
		if err := os.RemoveAll(s.folder); err != nil {
			return nil, err
		}
	}
	for _, f := range []string{s.files(), filepath.Join(s.folder, "done")} {
		if err := os.MkdirAll(f, 0o755); err != nil {
			return nil, err
		}
	}
	if err := unlinkShared(s.files()); err != nil {
		return nil, err
	}
	for name := range state.valid {
		if err := link(filepath.Join(dir, state.Pack.Name, name), filepath.Join(s.files(), name)); err != nil {
			return nil, err
		}
	}
	return s, os.WriteFile(mark, []byte(id), 0o644)
}

func (s *stage) files() string { return filepath.Join(s.folder, "files") }

func (s *stage) marker(source int) string {
	return filepath.Join(s.folder, "done", strconv.Itoa(source))
}

// missingSources returns the indexes of the sources that must still be fetched, given the
// valid files.
func (s *stage) missingSources(good map[string]recordFile) []int {
	var lacking []int
	for i, source := range s.build.Sources {
		if _, err := os.Stat(s.marker(i)); err != nil && anyMissing(source.Parts, good) {
			lacking = append(lacking, i)
		}
	}
	return lacking
}

func anyMissing(takes []Part, good map[string]recordFile) bool {
	for _, t := range takes {
		if _, ok := good[t.File]; t.File != "" && !ok || anyMissing(t.Unpack, good) {
			return true
		}
	}
	return false
}

// missingParts returns the parts that are not valid already. Valid files are links to the
// pack in use, which must not be written to.
func missingParts(takes []Part, good map[string]recordFile) []Part {
	var left []Part
	for _, t := range takes {
		if anyMissing([]Part{t}, good) {
			t.Unpack = missingParts(t.Unpack, good)
			left = append(left, t)
		}
	}
	return left
}

// finish checks the pack as a whole, writes its licence and record, and installs it.
func (s *stage) finish(ctx context.Context, dir string) error {
	r := newRecord(s.pack)
	for _, f := range s.build.Files {
		path := filepath.Join(s.files(), filepath.FromSlash(f.Name))
		sum, err := bundle.Hash(ctx, path)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err == nil && sum != f.SHA256 {
			err = fmt.Errorf("%s has sha256 %s, not %s", f.Name, sum, f.SHA256)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("pack %s is damaged: %w: run the command again; it starts over",
				s.pack.Name, err), os.RemoveAll(s.folder))
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		r.Files = append(r.Files, recordFile{f, info.ModTime().UnixNano()})
	}
	if err := writeLicenceAndCard(s.pack, s.files()); err != nil {
		return err
	}
	if err := r.write(s.files()); err != nil {
		return err
	}
	if err := durable.Replace(s.files(), filepath.Join(dir, s.pack.Name)); err != nil {
		return err
	}
	return os.RemoveAll(s.folder)
}

// unlinkShared removes the links that an earlier run made to the pack in use: files that
// were valid then may not be now, and would be written through the link.
func unlinkShared(folder string) error {
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		if st.Nlink > 1 {
			return os.Remove(path)
		}
		return nil
	})
}

// link makes to a hard link to from, or a copy if that is not possible.
func link(from, to string) error {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(from, to) == nil {
		return nil
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeAt(to, 0, f)
}
