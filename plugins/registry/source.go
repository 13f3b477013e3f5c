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

	"parley/plugins/sandbox"
)

// SignatureSuffix is behind a module's name in that of its signature.
const SignatureSuffix = ".sig"

// Read reads a plugin from where somebody has it: its one file, with the signature
// beside it, or an OCI image layout that carries those, as a folder or as a tar
// file. tag chooses one of the images of a layout that holds several. Nothing
// outside the named file's folder is read, whatever links and names say. What is
// wrong with it is an ErrUnusable.
func Read(from, tag string) (p Package, err error) {
	info, err := os.Stat(from)
	switch {
	case err != nil:
		err = unusable("%v", reason(err))
	case info.IsDir():
		p, err = readFolder(from, tag)
	case !info.Mode().IsRegular():
		err = unusable("it is neither a file nor a folder")
	default:
		p, err = readFile(from, tag)
	}
	if bad, ok := errors.AsType[ErrUnusable](err); ok {
		return p, unusable("%s: %s", from, bad.Why)
	}
	return p, err
}

// ReadUnsigned reads a plugin's one file as its author is about to sign it. The
// signature that is there counts for nothing.
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
	signature, err := readFileIn(root, filepath.Base(file)+SignatureSuffix, maxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Package{}, err
	}
	return readOpen(f, tag, signature)
}

// ReadFrom reads a plugin that somebody sent: its one file, or the tar file of an
// OCI image layout that carries it, which may be compressed with gzip. Errors are
// as those of Read.
func ReadFrom(f io.Reader, tag string) (Package, error) { return readOpen(f, tag, nil) }

// readOpen is ReadFrom; the signature is that of a module.
func readOpen(f io.Reader, tag string, signature []byte) (Package, error) {
	b := bufio.NewReader(f)
	magic, err := b.Peek(4)
	if err != nil {
		return Package{}, unusable("it has fewer than 4 bytes: it is neither a module nor a tar file")
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

// readFileIn reads a plain file in a folder, of at most most bytes. A link that leads
// out of the folder is refused, and so is what is no file: a pipe would have no
// end, and a device may do anything. fs.ErrNotExist stays what it is.
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
		return nil, unusable("%s is no plain file", name)
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
	return unusable("%s has more than %d bytes, which is the most", name, most)
}

// reason is why a file cannot be read, without its path, which the caller says.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return fmt.Errorf("%w", err)
}
