package shelf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// Read reads a plugin from where somebody has it: a module that carries its
// manifest or has a plugin.yaml beside it, a folder with a plugin.yaml, or an
// OCI image layout, as a folder or as a tar file. tag chooses one of the images
// of a layout that holds several. Nothing outside the named file's folder is
// read, whatever links and names say. What is wrong with it is an ErrUnusable.
func Read(from, tag string) (Package, error) {
	info, err := os.Stat(from)
	if err != nil {
		return Package{}, unusable("%s: %v", from, reason(err))
	}
	var p Package
	switch {
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

// ReadFrom reads a plugin that somebody sent: a module that carries its manifest,
// or the tar file of an OCI image layout. Errors are as those of Read.
func ReadFrom(f io.ReadSeeker, tag string) (Package, error) {
	return readOpen(f, tag, func(wasm []byte) (Package, error) { return newPackage(nil, wasm, nil, nil) })
}

// ReadUnsigned reads a folder or a module as its author is about to sign it, and
// says in which file the signature belongs. The one that is there counts for
// nothing.
func ReadUnsigned(from string) (p Package, signature string, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return p, "", unusable("%s: %v", from, reason(err))
	}
	dir, name := from, ""
	if !info.IsDir() {
		dir, name = filepath.Split(filepath.Clean(from))
		dir = filepath.Clean(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return p, "", unusable("%s: %v", from, reason(err))
	}
	defer root.Close()
	signature = filepath.Join(dir, signatureName)
	if name != "" && name != manifestName {
		wasm, err := readIn(root, name, sandbox.MaxModule)
		if err != nil {
			return p, "", err
		}
		if _, has, err := manifest.Section(wasm); err != nil {
			return p, "", unusable("%s: %v", from, err)
		} else if has {
			p, err = newPackage(nil, wasm, nil, nil)
			return p, from + ".sig", err
		}
	}
	text, err := readIn(root, manifestName, manifest.MaxBytes)
	if err != nil {
		return p, "", unusable("%s has no %s, and no module that carries its manifest", from, manifestName)
	}
	p, err = readFiles(root, text, "", nil)
	return p, signature, err
}

func readFolder(dir, tag string) (Package, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer root.Close()
	if _, err := root.Lstat(layoutIndex); err == nil {
		return readLayout(folderBlobs{root}, tag)
	}
	text, err := readIn(root, manifestName, manifest.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, unusable("the folder has neither a %s nor an OCI %s", manifestName, layoutIndex)
	}
	if err != nil {
		return Package{}, err
	}
	return readBeside(root, text, "")
}

// readBeside reads what lies beside a plugin.yaml, its signature too. module is
// the module's file where the manifest need not say it.
func readBeside(root *os.Root, text []byte, module string) (Package, error) {
	signature, err := readIn(root, signatureName, maxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Package{}, err
	}
	return readFiles(root, text, module, signature)
}

func readFiles(root *os.Root, text []byte, module string, signature []byte) (Package, error) {
	m, err := manifest.Parse(text)
	if err != nil {
		return Package{}, unusable("%v", err)
	}
	switch {
	case m.Wasm == "" && module == "":
		return Package{}, unusable("manifest: wasm: missing; name the file of the module beside %s", manifestName)
	case m.Wasm == "":
	case module != "" && module != m.Wasm:
		return Package{}, unusable("the module carries no manifest, and the %s beside it is of %s", manifestName,
			m.Wasm)
	default:
		module = m.Wasm
	}
	wasm, err := readIn(root, module, sandbox.MaxModule)
	if errors.Is(err, fs.ErrNotExist) {
		return Package{}, unusable("%s is not there: build the plugin first", module)
	}
	if err != nil {
		return Package{}, err
	}
	tests, err := readTests(root)
	if err != nil {
		return Package{}, err
	}
	return newPackage(text, wasm, tests, signature)
}

// readTests reads the cases that lie in the folder tests.
func readTests(root *os.Root) (map[string][]byte, error) {
	tests := map[string][]byte{}
	dir, err := root.Open(testsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return tests, nil
	}
	if err != nil {
		return nil, unusable("%s: %v", testsFolder, reason(err))
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxTests * 10) // beside them lie what they are made with
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unusable("%s: %v", testsFolder, reason(err))
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		text, err := readIn(root, testsFolder+"/"+e.Name(), maxTestBytes)
		if err == nil {
			err = addTest(tests, e.Name(), text)
		}
		if err != nil {
			return nil, err
		}
	}
	return tests, nil
}

func readFile(file, tag string) (Package, error) {
	dir, name := filepath.Split(file)
	if dir == "" {
		dir = "."
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer root.Close()
	if name == manifestName {
		text, err := readIn(root, name, manifest.MaxBytes)
		if err != nil {
			return Package{}, err
		}
		return readBeside(root, text, "")
	}
	f, err := os.Open(file)
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	defer f.Close()
	return readOpen(f, tag, func(wasm []byte) (Package, error) { return readModule(root, name, wasm) })
}

// readOpen reads a module or the tar file of an OCI layout, whichever it is.
// module makes a package of a module.
func readOpen(f io.ReadSeeker, tag string, module func(wasm []byte) (Package, error)) (Package, error) {
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return Package{}, unusable("it has fewer than 4 bytes: it is neither a module nor a tar file")
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Package{}, err
	}
	if string(magic[:]) != "\x00asm" {
		return readTar(f, tag)
	}
	wasm, err := io.ReadAll(io.LimitReader(f, sandbox.MaxModule+1))
	if err != nil {
		return Package{}, unusable("%v", reason(err))
	}
	return module(wasm)
}

// readModule makes a package of a module in a folder: alone where it carries its
// manifest, with plugin.yaml otherwise. NAME.sig beside it is its signature.
func readModule(root *os.Root, name string, wasm []byte) (Package, error) {
	if _, has, err := manifest.Section(wasm); err != nil {
		return Package{}, unusable("%v", err)
	} else if !has {
		text, err := readIn(root, manifestName, manifest.MaxBytes)
		if errors.Is(err, fs.ErrNotExist) {
			return newPackage(nil, wasm, nil, nil) // which says what is missing
		}
		if err != nil {
			return Package{}, err
		}
		return readBeside(root, text, name)
	}
	signature, err := readIn(root, name+".sig", maxSignature)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Package{}, err
	}
	return newPackage(nil, wasm, nil, signature)
}

// readIn reads a plain file in a folder, of at most most bytes. A link that leads
// out of the folder is refused, and so is what is no file: a pipe would have no
// end, and a device may do anything. fs.ErrNotExist stays what it is.
func readIn(root *os.Root, name string, most int64) ([]byte, error) {
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
