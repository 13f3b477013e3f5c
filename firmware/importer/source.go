package importer

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A source is a folder, a ZIP file, or one file, with what was saved.
type source struct {
	files  []file
	noise  int    // files that operating systems add
	refuse []Line // what is not read
	close  func() error
}

// A file is a file of a source.
type file struct {
	name string // relative to the source
	size int64
	open func() (io.ReadCloser, error)
}

// openSource opens a folder, a ZIP file or another file.
func openSource(from string) (*source, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		s := &source{close: func() error { return nil }}
		return s, s.walk(from)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a folder nor a file", from)
	}
	archive, err := zip.OpenReader(from)
	switch {
	case errors.Is(err, zip.ErrFormat):
		one := file{filepath.Base(from), info.Size(), func() (io.ReadCloser, error) { return os.Open(from) }}
		return &source{files: []file{one}, close: func() error { return nil }}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	s := &source{close: archive.Close}
	s.unzip(archive.File, info.Size())
	return s, nil
}

func (s *source) leftOut(name, why string) {
	s.refuse = append(s.refuse, Line{Kind: kindFile, File: strings.ToValidUTF8(name, "�"), Why: why})
}

// isNoise reports whether an operating system adds files of that name.
func isNoise(name string) bool {
	base := path.Base(name)
	return slices.Contains([]string{".DS_Store", "Thumbs.db", "desktop.ini"}, base) || strings.HasPrefix(base, "._") ||
		strings.HasPrefix(name, "__MACOSX/")
}

// walk lists the files of a folder in the order of their names. It follows no links.
func (s *source) walk(root string) error {
	walked := false
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, p) // p is below root
		switch {
		case err != nil && !walked:
			return err
		case err != nil:
			s.leftOut(name, err.Error())
			return nil
		case d.IsDir():
			walked = true
			return nil
		case isNoise(filepath.ToSlash(name)):
			s.noise++
			return nil
		case !d.Type().IsRegular():
			s.leftOut(name, "it is a link or a device, which is not followed")
			return nil
		}
		info, err := d.Info()
		if err != nil {
			s.leftOut(name, err.Error())
			return nil
		}
		s.files = append(s.files, file{name, info.Size(), func() (io.ReadCloser, error) { return os.Open(p) }})
		return nil
	})
}

// A ZIP file may hold at most maxInflation times its size and maxInflated bytes: texts as
// saved shrink to a twentieth.
const (
	maxInflation = 200
	maxInflated  = 1 << 30
)

// unzip lists the files of a ZIP file of a size in bytes.
func (s *source) unzip(entries []*zip.File, size int64) {
	left := maxInflation*size + maxInflated
	for _, e := range entries {
		name := strings.ReplaceAll(e.Name, `\`, "/")
		switch {
		case strings.HasSuffix(name, "/"):
			continue
		case isNoise(name):
			s.noise++
			continue
		case !filepath.IsLocal(name):
			s.leftOut(e.Name, "its name leads out of the folder")
			continue
		case !e.Mode().IsRegular():
			s.leftOut(e.Name, "it is a link or a device, which is not followed")
			continue
		case e.Flags&1 != 0:
			s.leftOut(e.Name, "it is encrypted: unpack it first")
			continue
		case e.UncompressedSize64 > uint64(left):
			s.leftOut(e.Name, fmt.Sprintf("the ZIP file holds more than %d times its own size", maxInflation))
			continue
		}
		left -= int64(e.UncompressedSize64)
		s.files = append(s.files, file{strings.ToValidUTF8(name, "�"), int64(e.UncompressedSize64), e.Open})
	}
	slices.SortFunc(s.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// isSound reports whether a file is a recording, by its name.
func isSound(name string) bool {
	return slices.Contains([]string{
		".mp3", ".wav", ".mp4", ".m4a", ".webm", ".ogg", ".oga", ".opus", ".flac", ".aac", ".mka", ".mkv", ".mov",
		".wma", ".aif", ".aiff", ".amr", ".caf",
	}, strings.ToLower(path.Ext(filepath.ToSlash(name))))
}
