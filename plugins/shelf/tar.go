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

// tarBlobs are the files of a layout in a tar file. They are found once and read
// where they lie; nothing is unpacked to the disk.
type tarBlobs struct {
	file  io.ReadSeeker
	files map[string]tarFile
}

type tarFile struct{ at, size int64 }

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
	t, err := findFiles(f)
	if err != nil {
		return Package{}, err
	}
	return readLayout(t, tag)
}

// findFiles notes where the plain files lie. Links, devices and the like are no
// part of a layout and left alone.
func findFiles(f io.ReadSeeker) (tarBlobs, error) {
	t := tarBlobs{f, map[string]tarFile{}}
	r := tar.NewReader(f)
	for n := 0; ; n++ {
		h, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil && n == 0:
			return t, unusable("it is neither a module (which begins with \\0asm) nor a tar file")
		case err != nil:
			return t, unusable("the tar file is damaged: %v", err)
		case n == maxEntries:
			return t, unusable("the tar file holds more than %d files", maxEntries)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return t, err
		}
		name := path.Clean(h.Name)
		if _, twice := t.files[name]; twice {
			return t, unusable("the tar file holds %.100q twice", name)
		}
		t.files[name] = tarFile{at, h.Size}
	}
}

func (t tarBlobs) read(name string, most int64) ([]byte, error) {
	f, ok := t.files[name]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case f.size > most:
		return nil, tooLarge(name, most)
	}
	if _, err := t.file.Seek(f.at, io.SeekStart); err != nil {
		return nil, err
	}
	text := make([]byte, f.size)
	if _, err := io.ReadFull(t.file, text); err != nil {
		return nil, unusable("the tar file ends within %s", name)
	}
	return text, nil
}
