package packs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"parley/internal/bundle"
	"parley/internal/durable"
	"parley/internal/progress"
)

// maxHeader bounds the header, which is read before the file can be trusted: a hundred
// times that of all packs.
const maxHeader = 4 << 20

// Import installs the packs of an exported file in dir and returns their names. It checks
// every file; after an error dir is as it was.
func Import(ctx context.Context, dir, file string, tell progress.Func) ([]string, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("importing: %w", err)
	}
	defer in.Close()
	names, err := ImportFrom(ctx, dir, in, tell)
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return names, err
}

// ImportFrom is Import for the content of an exported file.
func ImportFrom(ctx context.Context, dir string, in io.Reader, tell progress.Func) ([]string, error) {
	unlock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := bundle.NewReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	names, err := importFrom(ctx, dir, r, tell.Serial())
	if err != nil {
		return nil, fmt.Errorf("importing: %w: nothing was changed", err)
	}
	return names, nil
}

func importFrom(ctx context.Context, dir string, r *bundle.Reader, tell progress.Func) ([]string, error) {
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	packs, total, err := h.check(dir)
	if err != nil {
		return nil, err
	}
	if ready, err := allReady(ctx, dir, packs); ready || err != nil {
		return h.names(), err
	}
	if err := checkSpace(dir, total); err != nil {
		return nil, err
	}
	stage, err := durable.NewStage(filepath.Join(dir, stageName), "import-")
	if err != nil {
		return nil, err
	}
	defer stage.Remove()
	for i := range h.Packs {
		if err := importPack(ctx, r, &h.Packs[i], packs[i], stage.Path, tell); err != nil {
			return nil, fmt.Errorf("pack %s: %w", h.Packs[i].Name, err)
		}
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	for _, p := range h.Packs {
		if err := durable.Replace(filepath.Join(stage.Path, p.Name), filepath.Join(dir, p.Name)); err != nil {
			return nil, fmt.Errorf("putting pack %s in place: %w", p.Name, err)
		}
	}
	return h.names(), nil
}

// allReady reports whether every byte of the packs is in dir already, as after an
// installation that was interrupted later.
func allReady(ctx context.Context, dir string, packs []Pack) (bool, error) {
	states, err := Verify(ctx, dir, packs, true)
	return !slices.ContainsFunc(states, func(s State) bool { return s.Status != Ready }), err
}

func (h header) names() (names []string) {
	for _, p := range h.Packs {
		names = append(names, p.Name)
	}
	return names
}

var errNotExported = errors.New("it is not a file that parley packs pull --export wrote")

func readHeader(r *bundle.Reader) (h header, err error) {
	if err := r.Header(headerName, maxHeader, &h); err != nil {
		return header{}, fmt.Errorf("%w: %w", errNotExported, err)
	}
	if h.Format != exportFormat {
		return header{}, fmt.Errorf("it has format %d, and this Parley reads format %d: use the same version of "+
			"Parley on both machines", h.Format, exportFormat)
	}
	if len(h.Packs) == 0 {
		return header{}, errors.New("it has no packs")
	}
	return h, nil
}

// check checks the packs of a header, and returns them and the bytes that they need. It
// trusts nothing in it that the built-in manifests specify.
func (h header) check(dir string) (packs []Pack, total int64, err error) {
	seen := map[string]bool{}
	custom := Custom(dir)
	for _, r := range h.Packs {
		if seen[r.Name] {
			return nil, 0, fmt.Errorf("it has pack %q twice", r.Name)
		}
		seen[r.Name] = true
		p, ok := builtIn(r.Name)
		if ok {
			err = sameBuild(p, r)
		} else {
			p = r.pack()
			err = checkCustomImport(dir, r, custom)
		}
		if err != nil {
			return nil, 0, err
		}
		for _, f := range r.Files {
			if total += f.Bytes; total < 0 {
				return nil, 0, errNotExported
			}
		}
		packs = append(packs, p)
	}
	return packs, total, nil
}

// sameBuild returns an error if r is not the build of the pack that this Parley uses.
func sameBuild(p Pack, r record) error {
	build, ok := p.Build()
	if !ok {
		return fmt.Errorf("pack %s cannot be imported on this machine", p.Name)
	}
	var files []bundle.File
	for _, f := range r.Files {
		files = append(files, f.File)
	}
	if !slices.Equal(files, build.Files) {
		return fmt.Errorf("its pack %s (version %q) is not the one that this Parley uses on %s (version %s): "+
			"export it with the same version of Parley on the same kind of processor", p.Name, r.Version,
			runtime.GOARCH, p.Version)
	}
	return nil
}

// checkCustomImport returns an error if r is not a pack that an operator can add, or
// would replace another one.
func checkCustomImport(dir string, r record, own []Pack) error {
	if err := r.checkCustom(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, r.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, p := range own {
		b, _ := p.Build()
		if p.Name == r.Name && slices.EqualFunc(b.Files, r.Files, func(a bundle.File, b recordFile) bool {
			return a == b.File
		}) {
			return nil // the same pack
		}
	}
	return fmt.Errorf("there is another pack %s: run first: parley packs remove %s", r.Name, r.Name)
}

// importPack writes the next pack of the file into the stage.
func importPack(ctx context.Context, in *bundle.Reader, r *record, p Pack, stage string, tell progress.Func) error {
	folder := filepath.Join(stage, r.Name)
	e := progress.Event{Name: r.Name, Step: progress.Unpacking, Total: p.Bytes()}
	for i, f := range r.Files {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		err := in.Extract(ctx, r.Name+"/"+f.Name, f.File, path, func(bytes int64) {
			e.Done += bytes
			tell(e)
		})
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		r.Files[i].ModifiedNS = info.ModTime().UnixNano()
	}
	clean := newRecord(p)
	clean.Files = r.Files
	err := clean.write(folder)
	if err == nil && !p.Custom {
		err = writeLicenceAndCard(p, folder)
	}
	e.Step = progress.Done
	tell(e)
	return err
}
