package release

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"parley/internal/signing"
)

// block is the unit of a tar archive.
const block = 512

// shebang is the first line of a release file.
const shebang = "#!/bin/sh\n"

// A File is an open release file. Open has checked its manifest and the place and size of
// every part. The content of a part is checked when it is read.
type File struct {
	Manifest Manifest

	file   *os.File
	script []byte
	text   []byte // of the manifest
	signed *signing.Signature
	offset map[string]int64 // of the content of each part
}

// Open opens a release file. It reads only its beginning and the headers of its parts.
func Open(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := Read(in)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), in.Close())
	}
	return f, nil
}

// Read is Open for a file that is open already; Close closes it.
func Read(in *os.File) (*File, error) {
	f := &File{file: in, offset: map[string]int64{}}
	f.script = make([]byte, ScriptBytes)
	if _, err := in.ReadAt(f.script, 0); err != nil {
		return nil, readError(err)
	}
	if !bytes.HasPrefix(f.script, []byte(shebang)) {
		return nil, errFormat
	}
	next, err := f.readManifest()
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(f.script); hex.EncodeToString(sum[:]) != f.Manifest.Script.SHA256 {
		return nil, fmt.Errorf("the script at its beginning is damaged: it has sha256 %x, not %s", sum,
			f.Manifest.Script.SHA256)
	}
	for _, part := range f.Manifest.Files {
		if err := f.checkHeader(next, part.Name, part.Bytes); err != nil {
			return nil, err
		}
		f.offset[part.Name] = next + block
		if next, err = f.checkPadding(next+block, part.Bytes); err != nil {
			return nil, err
		}
	}
	return f, f.checkEnd(next)
}

// Begins reports whether a file begins as a release file does.
func Begins(in io.ReaderAt) bool {
	begin := make([]byte, len(shebang))
	_, err := in.ReadAt(begin, 0)
	return err == nil && string(begin) == shebang
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Script returns the script with which the file begins, which installs it.
func (f *File) Script() string { return string(f.script) }

// Environ returns a variable for the script's environment, which has it refuse a file with
// another manifest than f had when it was opened.
func (f *File) Environ() string { return fmt.Sprintf("%s%x", pinVariable, sha256.Sum256(f.text)) }

const pinVariable = "MANIFEST_SHA256="

// CheckEnviron returns an error if an environment has the variable of Environ for another
// manifest. The script sets it for the program that adds the packs.
func (f *File) CheckEnviron(environ []string) error {
	for _, entry := range environ {
		if strings.HasPrefix(entry, pinVariable) && entry != pinVariable && entry != f.Environ() {
			return fmt.Errorf("%s was changed after it was checked", f.file.Name())
		}
	}
	return nil
}

// readManifest reads the manifest and the signature, and returns the offset of the next
// tar header.
func (f *File) readManifest() (next int64, err error) {
	text, next, err := f.readSmall(ScriptBytes, manifestName, maxManifest)
	if err != nil {
		return 0, err
	}
	if text == nil {
		return 0, fmt.Errorf("%w: it has no manifest", errFormat)
	}
	if f.Manifest, err = decode(text); err != nil {
		return 0, err
	}
	f.text = text
	text, next, err = f.readSmall(next, signatureName, signing.MaxBytes)
	if err != nil || text == nil {
		return next, err
	}
	s, err := signing.Parse(text)
	f.signed = &s
	return next, err
}

// readSmall reads the member at an offset if it has that name, else it returns nil and
// the same offset.
func (f *File) readSmall(at int64, name string, limit int64) (text []byte, next int64, err error) {
	head := make([]byte, block)
	if _, err := f.file.ReadAt(head, at); err != nil {
		return nil, 0, readError(err)
	}
	h, err := tar.NewReader(bytes.NewReader(head)).Next()
	if err != nil || h.Name != name {
		return nil, at, nil
	}
	if h.Size < 0 || h.Size > limit {
		return nil, 0, fmt.Errorf("%w: %s has %d bytes, and %d are allowed", errFormat, name, h.Size, limit)
	}
	if err := f.checkHeader(at, name, h.Size); err != nil {
		return nil, 0, err
	}
	text = make([]byte, h.Size)
	if _, err := f.file.ReadAt(text, at+block); err != nil {
		return nil, 0, readError(err)
	}
	next, err = f.checkPadding(at+block, h.Size)
	return text, next, err
}

// checkPadding checks that a member's content is followed by zeros up to the next block,
// and returns the offset of that block.
func (f *File) checkPadding(at, size int64) (next int64, err error) {
	next = at + padded(size)
	return next, f.checkZeros(at+size, next)
}

// checkZeros checks that the file has zeros from one offset to another.
func (f *File) checkZeros(from, to int64) error {
	b := make([]byte, to-from)
	if _, err := f.file.ReadAt(b, from); err != nil {
		return readError(err)
	}
	if bytes.ContainsFunc(b, func(r rune) bool { return r != 0 }) {
		return fmt.Errorf("%w: something is between its parts", errFormat)
	}
	return nil
}

// checkHeader checks that the tar header at an offset is the only one that Write writes
// for a member.
func (f *File) checkHeader(at int64, name string, size int64) error {
	want, err := header(name, size)
	if err != nil {
		return err
	}
	got := make([]byte, block)
	if _, err := f.file.ReadAt(got, at); err != nil {
		return readError(err)
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("%w: %s with %d bytes is not at its place", errFormat, name, size)
	}
	return nil
}

// checkEnd checks that the file ends with the two empty blocks of a tar archive.
func (f *File) checkEnd(at int64) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size != at+2*block {
		return fmt.Errorf("the file has %d bytes, and should have %d: it is cut off or was changed, copy it again",
			size, at+2*block)
	}
	return f.checkZeros(at, at+2*block)
}

func readError(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it ends too early", errFormat)
	}
	return err
}

// header returns the tar header of a member. All have the same time, so that the same
// content makes the same file.
func header(name string, size int64) ([]byte, error) {
	var b bytes.Buffer
	err := tar.NewWriter(&b).WriteHeader(&tar.Header{
		Name:    name,
		Size:    size,
		Mode:    0o644,
		ModTime: time.Unix(0, 0),
		Format:  tar.FormatGNU, // for sizes from 8 GiB
	})
	if err == nil && b.Len() != block {
		err = fmt.Errorf("%q needs more than one tar header", name)
	}
	return b.Bytes(), err
}

func padded(size int64) int64 { return (size + block - 1) / block * block }
