package source

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// maxZipDirectory bounds how much of a zip file is read to open it, in bytes. The entries
// take about 170 bytes each, and ten times that in memory at worst.
const maxZipDirectory = 4 << 20

// zip walks a zip file.
func (l *level) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	// A section answers offsets outside of the file, which a hostile archive may name, with
	// io.EOF; the file would answer with errors that look like the disk's.
	section := io.NewSectionReader(f, 0, info.Size())
	many := fault("the archive has too large a directory: at most %d entries are allowed", l.Entries)
	if n, err := zip64Entries(section, info.Size()); err != nil || n > uint64(l.Entries) {
		if err != nil {
			return l.damaged(err)
		}
		return l.problem("", many)
	}
	// zip.NewReader reads headers as long as it finds any, whatever the number in the
	// directory says, and stores them all.
	from := &openingReader{from: section, left: maxZipDirectory}
	r, err := zip.NewReader(from, info.Size())
	if errors.Is(err, errDirectory) {
		return l.problem("", many)
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return l.damaged(err)
	}
	from.open = true
	if isDocument(r.File) {
		return l.problem("", fault("it is a document of an office program or an e-book; send its text as a .txt file"))
	}
	for _, entry := range r.File {
		if err := l.count(); err != nil {
			return err
		}
		if err := l.zipEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// isDocument reports whether a zip file is a document, whose entries are no media but its
// markup: Office Open XML (ECMA-376) has an entry [Content_Types].xml; OpenDocument and EPUB
// begin with an entry mimetype.
func isDocument(entries []*zip.File) bool {
	return slices.ContainsFunc(entries, func(e *zip.File) bool { return e.Name == "[Content_Types].xml" }) ||
		len(entries) > 0 && entries[0].Name == "mimetype"
}

func (l *level) zipEntry(entry *zip.File) error {
	name, wrong := memberName(entry.Name)
	mode := entry.Mode()
	switch {
	case wrong != nil:
		return l.problem(name, wrong)
	case name == "" || mode.IsDir():
		return nil
	case mode&fs.ModeSymlink != 0:
		return l.problem(name, fault("the entry is a link, which is not followed"))
	case !mode.IsRegular():
		return l.problem(name, fault("the entry is no file"))
	case entry.Flags&1 != 0:
		return l.problem(name, fault("the entry is encrypted"))
	case entry.UncompressedSize64 > 1<<62:
		return l.problem(name, fault("the entry is damaged: it has an impossible size"))
	}
	content, err := entry.Open()
	switch {
	case errors.Is(err, zip.ErrAlgorithm):
		return l.problem(name, fault("the entry is packed by method %d; 0 (stored) and 8 (deflate) are read",
			entry.Method))
	case err != nil && isOurs(err):
		return err
	case err != nil:
		return l.problem(name, fault("the entry is damaged: %.100s", plain(err)))
	}
	defer content.Close()
	return l.member(name, int64(entry.UncompressedSize64), content)
}

// errDirectory is the error of a zip file whose directory is larger than maxZipDirectory.
var errDirectory = errors.New("the directory is too large")

// openingReader reads at most left bytes until it is open.
type openingReader struct {
	from io.ReaderAt
	left int
	open bool
}

func (r *openingReader) ReadAt(b []byte, at int64) (int, error) {
	if !r.open {
		if r.left -= len(b); r.left < 0 {
			return 0, errDirectory
		}
	}
	return r.from.ReadAt(b, at)
}

// zip64Entries returns the number of entries that the zip64 record of a file declares, or
// 0 if it has none. zip.NewReader allocates a list of that length, up to a quarter of the
// file's size; without the record, the number has 16 bits. The layout is from sections
// 4.3.14 to 4.3.16 of PKWARE's APPNOTE.
func zip64Entries(f io.ReaderAt, size int64) (uint64, error) {
	const endBytes, locatorBytes, maxComment = 22, 20, 1<<16 - 1
	tail := make([]byte, min(size, locatorBytes+endBytes+maxComment))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil && err != io.EOF {
		return 0, err
	}
	end := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if end < locatorBytes || !bytes.HasPrefix(tail[end-locatorBytes:], []byte("PK\x06\x07")) {
		return 0, nil
	}
	record := make([]byte, 40)
	at := binary.LittleEndian.Uint64(tail[end-locatorBytes+8:])
	if at > uint64(size) {
		return 0, io.ErrUnexpectedEOF
	}
	if _, err := f.ReadAt(record, int64(at)); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(record[32:]), nil
}
