package registry

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"parley/internal/signing"
	"parley/plugins/sandbox"
)

// SignatureSuffix is appended to a module's file name to form that of its signature.
const SignatureSuffix = ".sig"

// Read reads a plugin: a module file with the signature next to it, or an OCI image layout
// that contains them, as a folder or as a tar file. tag selects one of several images in a
// layout. Read opens no file outside the folder of the named file, whatever links and names
// say. An ErrUnusable says what is wrong with the plugin.
func Read(from, tag string) (p Package, err error) {
	info, err := os.Stat(from)
	switch {
	case err != nil:
		err = unusable("%v", reason(err))
	case info.IsDir():
		p, err = readFolder(from, tag)
	case !info.Mode().IsRegular():
		err = unusable("neither a file nor a folder")
	default:
		p, err = readFile(from, tag)
	}
	if bad, ok := errors.AsType[ErrUnusable](err); ok {
		return p, unusable("%s: %s", from, bad.Why)
	}
	return p, err
}

// ReadUnsigned reads a module file that its author is about to sign. It ignores an existing
// signature.
func ReadUnsigned(file string) (Package, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return Package{}, unusable("%s: %v: %s", file, reason(err), howToBuild)
	}
	p, err := newPackage(wasm, nil)
	if err != nil {
		err = unusable("%s: %v", file, err)
	}
	return p, err
}

func readFolder(dir, tag string) (Package, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer root.Close()
	return readLayout(func(name string, most int64) ([]byte, error) { return readFileIn(root, name, most) }, tag)
}

func readFile(file, tag string) (Package, error) {
	f, err := os.Open(file)
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer f.Close()
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer root.Close()
	signature, err := readFileIn(root, filepath.Base(file)+SignatureSuffix, signing.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Package{}, err
	}
	return readOpen(f, tag, signature)
}

// ReadFrom reads a plugin from an upload: a module file, or the tar file of an OCI image
// layout, which may be compressed with gzip. The errors are those of Read.
func ReadFrom(f io.Reader, tag string) (Package, error) { return readOpen(f, tag, nil) }

// readOpen is ReadFrom with the signature of a module.
func readOpen(f io.Reader, tag string, signature []byte) (Package, error) {
	b := bufio.NewReader(f)
	magic, err := b.Peek(4)
	if err != nil {
		return Package{}, unusable("neither a module nor a tar file: it has fewer than 4 bytes")
	}
	if string(magic) == "\x00asm" {
		wasm, err := io.ReadAll(io.LimitReader(b, sandbox.MaxModule+1))
		if err != nil {
			return Package{}, unusable("%v", reason(err))
		}
		return newPackage(wasm, signature)
	}
	unpacked := io.Reader(b)
	if string(magic[:2]) == "\x1f\x8b" {
		if unpacked, err = gzip.NewReader(b); err != nil {
			return Package{}, unusable("not a gzip file: %v", err)
		}
	}
	read, err := tarFiles(unpacked)
	if err != nil {
		return Package{}, err
	}
	return readLayout(read, tag)
}

// readFileIn reads a regular file in a folder, of at most most bytes. It refuses links that
// lead out of the folder, pipes, which never end, and devices. fs.ErrNotExist is returned
// as it is.
func readFileIn(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, unusable("%s: %v", name, reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, unusable("%s: %v", name, reason(err))
	case !info.Mode().IsRegular():
		return nil, unusable("%s is not a regular file", name)
	case info.Size() > most:
		return nil, tooLarge(name, most)
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, unusable("%s: %v", name, reason(err))
	case int64(len(text)) > most:
		return nil, tooLarge(name, most)
	}
	return text, nil
}

func tooLarge(name string, most int64) error {
	return unusable("%s is too large: at most %d bytes are allowed", name, most)
}

// reason returns the cause of an error without the path, which the caller adds.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return fmt.Errorf("%w", err)
}
