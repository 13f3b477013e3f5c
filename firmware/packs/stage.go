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

// stageName is the folder inside the packs folder in which packs are put
// together. It lies there so that a finished pack is moved by renaming.
const stageName = ".stage"

// A stage is where one pack is put together. What was fetched stays there
// until the pack is whole, so that an interrupted pull goes on where it was.
//
//	files/    the pack's folder to be; parts are written at their place in a file
//	done/N    the Nth source's parts are there and were right
//	build     which build this is: another one starts anew
type stage struct {
	folder string
	pack   Pack
	build  Build
}

// openStage finds or makes the stage of the pack that state is about, with the
// files that are right already linked into it.
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

// missingSources returns which of the build's sources must still be fetched, when the
// files in good are right already.
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

// missingParts leaves out of takes what is right already: those files are
// links to the pack in use, which must not be written to.
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

// finish checks the pack as a whole, writes its papers and puts it in place.
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
			return errors.Join(fmt.Errorf("pack %s did not come out right: %w: run the command again, it begins anew",
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

// unlinkShared removes the links that an earlier run made to the pack in use:
// what was right then may not be now, and would be written through the link.
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

// link makes to the same file as from, or a copy where that cannot be.
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
