package source

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
)

// Bounds limit what is unpacked from one archive, with the archives in it.
type Bounds struct {
	Entries int   // members, folders and links
	Member  int64 // bytes of one member
	Bytes   int64 // bytes of all members together
	// Ratio limits what unpacks from few bytes. An archive of n bytes may unpack to
	// ratioFree + Ratio × n bytes.
	Ratio int64
}

const (
	// ratioFree is how much any archive may unpack to: silence and white pictures shrink a
	// thousandfold, and are honest.
	ratioFree = 256 << 20
	// maxDepth is how many archives may be within each other.
	maxDepth = 2
)

// DefaultBounds allow a data set of 10,000 recordings, and as much per member as a URL may
// have. Media shrink by little, texts to a tenth.
func DefaultBounds() Bounds {
	return Bounds{
		Entries: 10_000,
		Member:  1 << 30,
		Bytes:   4 << 30,
		Ratio:   100,
	}
}

// Member is a file of an archive, or what prevents that it can be read.
type Member struct {
	Name string // its path in the archive, with /; empty if Problem is about the archive
	Path string // the unpacked file, which exists during the call; empty with a Problem
	Size int64
	// Problem is why the member, or the rest of the archive, was not unpacked.
	Problem *Error
}

// kind is the format of an archive.
type kind int

const (
	none kind = iota
	zipped
	plainTar
	gzippedTar
)

// IsArchive reports whether the file at path is an archive that Walk reads: zip, tar or
// tar.gz, by its content.
func IsArchive(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	k, err := kindOf(f)
	return k != none, err
}

// kindOf returns the format of f, which it reads from its beginning.
func kindOf(f io.ReaderAt) (kind, error) {
	start := make([]byte, 512) // a header of tar
	n, err := f.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return none, err
	}
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return zipped, nil
	case isTar(start):
		return plainTar, nil
	case !bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return none, nil
	}
	unpacked, err := gzip.NewReader(io.NewSectionReader(f, 0, 1<<20))
	if err != nil {
		return none, nil // damaged: whoever reads the file as a medium says so
	}
	start = make([]byte, 512)
	if _, err := io.ReadFull(unpacked, start); err == nil && isTar(start) {
		return gzippedTar, nil
	}
	return none, nil
}

// isTar reports whether start, the first 512 bytes of a file, is a header of tar with the
// right checksum.
func isTar(start []byte) bool {
	if len(start) < 512 || len(bytes.Trim(start, "\x00")) == 0 {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(start)).Next()
	return !errors.Is(err, tar.ErrHeader)
}

// walk is one call of Walk.
type walk struct {
	Bounds
	ctx     context.Context
	folder  string
	visit   func(Member) error
	entries int   // so far, also of the archives within
	bytes   int64 // unpacked so far
}

// errEnd ends a walk whose archive was reported as a problem.
var errEnd = errors.New("the rest of the archive is not read")

// Walk unpacks the archive at path, one member at a time, to a file in folder that it
// removes after visit. Members that cannot be read, and a damaged rest, are visited as
// problems. Folders, dotfiles and __MACOSX are left out; links and devices are problems.
// An archive within the archive is walked too, one within that is a problem, and so is an
// archive without anything to visit. Walk returns the first error of visit, or an error of
// the box.
func Walk(ctx context.Context, path, folder string, b Bounds, visit func(Member) error) error {
	w := &walk{
		Bounds: b,
		ctx:    ctx,
		folder: folder,
	}
	visited := false
	w.visit = func(m Member) error {
		visited = true
		return visit(m)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	w.Bytes = min(w.Bytes, ratioFree+w.Ratio*info.Size())
	if err := w.archive(path, "", 1); err != nil && err != errEnd {
		return err
	}
	if !visited {
		return visit(Member{Problem: fault("the archive has no files")})
	}
	return nil
}

// archive walks the archive at file, whose own path is within: "" for the outermost.
func (w *walk) archive(file, within string, depth int) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	k, err := kindOf(f)
	if err != nil {
		return err
	}
	level := &level{
		walk:   w,
		within: within,
		depth:  depth,
	}
	switch k {
	case zipped:
		return level.zip(f)
	case plainTar:
		return level.tar(f)
	case gzippedTar:
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			return level.damaged(err)
		}
		// Skipped entries also take time to unpack. An entry's header and padding take 1 KiB,
		// the end of the archive up to 10 KiB.
		return level.tar(&bounded{unpacked, w.Bytes - w.bytes + int64(w.Entries)<<10 + 10<<10})
	}
	return level.problem("", fault("the file is not a zip, tar or tar.gz archive"))
}

// bounded reads at most left bytes and then returns errUnpacked.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errUnpacked
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// errUnpacked is the error of a stream that unpacks to more than the bounds allow.
var errUnpacked = errors.New("unpacks to too much")
