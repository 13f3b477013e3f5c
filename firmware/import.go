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
	"runtime"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxHeader bounds what is read before anything is known of the file: a
	// hundred times the header of all packs.
	maxHeader = 4 << 20
	// maxWindow bounds the memory that a stranger's zstd frame may ask for.
	maxWindow = 64 << 20
)

// Import puts the packs of a file that Export wrote into dir and returns their
// names. Every file is checked; when anything is wrong, dir is as it was.
func Import(ctx context.Context, dir, file string, progress Progress) ([]string, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("importing: %w", err)
	}
	defer in.Close()
	unlock, err := lock(dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	names, err := importFrom(ctx, dir, z, progress.serial())
	if err != nil {
		return nil, fmt.Errorf("importing %s: %w: nothing was changed", file, err)
	}
	return names, nil
}

func importFrom(ctx context.Context, dir string, r io.Reader, progress Progress) ([]string, error) {
	t := tar.NewReader(r)
	h, err := readHeader(t)
	if err != nil {
		return nil, err
	}
	packs, total, err := h.check(dir)
	if err != nil {
		return nil, err
	}
	if err := checkSpace(dir, total); err != nil {
		return nil, err
	}
	stage, err := os.MkdirTemp(filepath.Join(dir, stageName), "import-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(stage)
	for i := range h.Packs {
		if err := importPack(ctx, t, &h.Packs[i], packs[i], stage, progress); err != nil {
			return nil, fmt.Errorf("pack %s: %w", h.Packs[i].Name, err)
		}
	}
	if err := atEnd(t, r); err != nil {
		return nil, err
	}
	var names []string
	for _, p := range h.Packs {
		if err := putInPlace(filepath.Join(stage, p.Name), filepath.Join(dir, p.Name)); err != nil {
			return nil, fmt.Errorf("putting pack %s in place: %w", p.Name, err)
		}
		names = append(names, p.Name)
	}
	return names, nil
}

var errNotExported = errors.New("it is not a file that parley packs export wrote")

func readHeader(t *tar.Reader) (header, error) {
	m, err := t.Next()
	if err != nil {
		return header{}, fmt.Errorf("%w, or it is damaged: %w", errNotExported, err)
	}
	if m.Name != headerName || m.Size > maxHeader {
		return header{}, errNotExported
	}
	var h header
	if err := json.NewDecoder(io.LimitReader(t, maxHeader)).Decode(&h); err != nil {
		return header{}, errNotExported
	}
	if h.Format != exportFormat {
		return header{}, fmt.Errorf("it has format %d, and this Parley reads format %d: use the same version of Parley on both machines", h.Format, exportFormat)
	}
	if len(h.Packs) == 0 {
		return header{}, errors.New("it holds no packs")
	}
	return h, nil
}

// check says what is wrong with the packs that a file announces; it returns
// them and the bytes that they need. Nothing of the header is believed that
// our own manifests know better.
func (h header) check(dir string) (packs []Pack, total int64, err error) {
	seen := map[string]bool{}
	own := Own(dir)
	for _, r := range h.Packs {
		if seen[r.Name] {
			return nil, 0, fmt.Errorf("it holds pack %q twice", r.Name)
		}
		seen[r.Name] = true
		p, ok := builtIn(r.Name)
		if ok {
			err = sameBuild(p, r)
		} else {
			p = r.pack()
			err = checkOwnImport(dir, r, own)
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

// sameBuild says when r is not the pack that this Parley wants.
func sameBuild(p Pack, r record) error {
	build, ok := p.Build()
	if !ok {
		return fmt.Errorf("pack %s cannot be carried to this machine", p.Name)
	}
	var files []File
	for _, f := range r.Files {
		files = append(files, f.File)
	}
	if !slices.Equal(files, build.Files) {
		return fmt.Errorf("pack %s in it (version %q) is not the one that this Parley uses on %s (version %s): export it with the same version of Parley on the same kind of processor", p.Name, r.Version, runtime.GOARCH, p.Version)
	}
	return nil
}

// checkOwnImport says when r is not a pack that an operator may have added, or
// would replace another one.
func checkOwnImport(dir string, r record, own []Pack) error {
	if err := r.checkOwn(); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, r.Name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, p := range own {
		b, _ := p.Build()
		if p.Name == r.Name && slices.EqualFunc(b.Files, r.Files, func(a File, b recordFile) bool { return a == b.File }) {
			return nil // the same again
		}
	}
	return fmt.Errorf("there is another pack %s of your own: run first: parley packs remove %s", r.Name, r.Name)
}

// importPack writes the next pack of the archive into the stage.
func importPack(ctx context.Context, t *tar.Reader, r *record, p Pack, stage string, progress Progress) error {
	folder := filepath.Join(stage, r.Name)
	e := Event{Pack: r.Name, Step: Reading, Total: p.Bytes()}
	for i, f := range r.Files {
		m, err := t.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("the file ends before %s: it is cut off, copy it again", f.Name)
		}
		if err != nil {
			return fmt.Errorf("the file is damaged: %w", err)
		}
		if m.Typeflag != tar.TypeReg || m.Name != r.Name+"/"+f.Name || m.Size != f.Bytes {
			return fmt.Errorf("it has %q of %d bytes where %q of %d should be", m.Name, m.Size, r.Name+"/"+f.Name, f.Bytes)
		}
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if err := importFile(ctx, t, f.File, path, &e, progress); err != nil {
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
	if err == nil && !p.Own {
		err = writePapers(p, folder)
	}
	e.Step = Done
	progress(e)
	return err
}

func importFile(ctx context.Context, r io.Reader, f File, path string, e *Event, progress Progress) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	err = copyChecked(ctx, out, r, f, e, progress)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("the file ends within %s: it is cut off, copy it again", f.Name)
	}
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// atEnd says when the file does not end where it should. Reading on to its
// very end also checks the checksum that zstd has over the whole.
func atEnd(t *tar.Reader, r io.Reader) error {
	m, err := t.Next()
	if err == nil {
		return fmt.Errorf("it holds %q, which it does not announce", m.Name)
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("the file is damaged at its end: %w", err)
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20)) // tar's padding is at most 10 KiB
	if err != nil {
		return fmt.Errorf("the file is damaged at its end: %w", err)
	}
	if n == 1<<20 {
		return errNotExported
	}
	return nil
}
