package shelf

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"

	"parley/plugins/sandbox"
)

const (
	// maxEntries bounds the files of a tar: a layout has a few for each artifact.
	maxEntries = 10_000
	// maxUnpacked bounds what a compressed one holds: it is unpacked in memory,
	// and holds a module and a little beside it.
	maxUnpacked = sandbox.MaxModule + 16<<20
)

// readTar reads an OCI layout in a tar file, which may be compressed with gzip.
func readTar(f io.ReadSeeker, tag string) (Package, error) {
	var magic [2]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return Package{}, unusable("%v", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Package{}, err
	}
	if magic == [2]byte{0x1f, 0x8b} {
		z, err := gzip.NewReader(f)
		if err != nil {
			return Package{}, unusable("not a gzip file: %v", err)
		}
		text, err := io.ReadAll(io.LimitReader(z, maxUnpacked+1))
		if err != nil {
			return Package{}, unusable("cannot be unpacked: %v", err)
		}
		if len(text) > maxUnpacked {
			return Package{}, tooLarge("what is packed in it", maxUnpacked)
		}
		f = bytes.NewReader(text)
	}
	read, err := filesOf(f)
	if err != nil {
		return Package{}, err
	}
	return readLayout(read, tag)
}

// filesOf finds the plain files of a tar, which are read where they lie: nothing is
// unpacked to the disk. Links, devices and the like are no part of a layout and
// left alone.
func filesOf(f io.ReadSeeker) (files, error) {
	type place struct{ at, size int64 }
	found := map[string]place{}
	r := tar.NewReader(f)
	for n := 0; ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		switch {
		case err != nil && n == 0:
			return nil, unusable("it is neither a module (which begins with \\0asm) nor a tar file: %s", howToBuild)
		case err != nil:
			return nil, unusable("the tar file is damaged: %v", err)
		case n == maxEntries:
			return nil, unusable("the tar file holds more than %d files", maxEntries)
		case h.Typeflag != tar.TypeReg:
			continue
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		name := path.Clean(h.Name)
		if _, twice := found[name]; twice {
			return nil, unusable("the tar file holds %.100q twice", name)
		}
		found[name] = place{at, h.Size}
	}
	return func(name string, most int64) ([]byte, error) {
		p, ok := found[name]
		switch {
		case !ok:
			return nil, fs.ErrNotExist
		case p.size > most:
			return nil, tooLarge(name, most)
		}
		if _, err := f.Seek(p.at, io.SeekStart); err != nil {
			return nil, err
		}
		text := make([]byte, p.size)
		if _, err := io.ReadFull(f, text); err != nil {
			return nil, unusable("the tar file ends within %s", name)
		}
		return text, nil
	}, nil
}
