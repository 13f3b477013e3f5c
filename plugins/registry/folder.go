package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"golang.org/x/sys/unix"

	"parley/internal/durable"
	"parley/internal/layout"
	"parley/internal/signing"
	"parley/plugins/sandbox"
)

const (
	lockName    = ".lock"
	stagePrefix = ".new-"
)

// folder is the folder with the files of plugins. Each package lies in a folder named by
// its digest, which appears as a whole and never changes. The database says which plugin
// uses which folder; a folder that no row names is garbage.
type folder struct{ data string }

func (f folder) path(names ...string) string {
	return filepath.Join(append([]string{f.data, layout.Plugins}, names...)...)
}

var digestName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// lock locks the folder while files are added or removed, so that no process removes files
// that another one has not entered in the database yet. It waits for other processes. The
// lock ends with the process.
func (f folder) lock(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(f.path(), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of plugins: %w", err)
	}
	if err := f.chown(f.path()); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path(lockName), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the folder of plugins: %w", err)
	}
	if err := f.chown(f.path(lockName)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// A goroutine waits for the kernel's lock, because that wait cannot be cancelled. If
	// ctx ends first, the goroutine releases the lock when it gets it. A lock is held for
	// no longer than a self-test takes.
	got := make(chan error, 1)
	go func() {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX)
		for errors.Is(err, unix.EINTR) {
			err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		}
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock the folder of plugins: %w", err), file.Close())
		}
		return func() { _ = file.Close() }, nil
	case <-ctx.Done():
		go func() { <-got; _ = file.Close() }()
		return nil, context.Cause(ctx)
	}
}

// Hold prevents that any process installs, upgrades or removes plugins, until release is
// called. Plugins can be called meanwhile. Without plugins in the data folder it does
// nothing.
func Hold(ctx context.Context, data string) (release func(), err error) {
	f := folder{data}
	if _, err := os.Stat(f.path()); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return f.lock(ctx)
}

// signatureName is the name of the signature's file in the folder of a package.
const signatureName = "plugin.sig"

// put writes a package into its folder, as a whole or not at all. If it is there already,
// put does nothing. The caller holds the lock.
func (f folder) put(p Package) error {
	if _, err := os.Lstat(f.path(p.Digest())); err == nil {
		if _, _, err := f.get(p.Digest()); err == nil {
			return nil // a crash left it, and it is intact
		}
		if err := os.RemoveAll(f.path(p.Digest())); err != nil {
			return err
		}
	}
	stage, err := durable.NewStage(f.path(), stagePrefix)
	if err != nil {
		return err
	}
	defer stage.Remove()
	files := map[string][]byte{moduleName: p.Wasm}
	if p.Signature != nil {
		files[signatureName] = p.Signature.Text()
	}
	for name, text := range files {
		to := filepath.Join(stage.Path, name)
		if err := errors.Join(durable.WriteFile(to, text, 0o600), f.chown(to)); err != nil {
			return err
		}
	}
	if err := errors.Join(f.chown(stage.Path), durable.SyncFolder(stage.Path)); err != nil {
		return err
	}
	if err := durable.Replace(stage.Path, f.path(p.Digest())); err != nil {
		return err
	}
	return durable.SyncFolder(f.path())
}

// get returns the module of the package with the digest, and its signer. It checks that all
// files match the digest. Packages installed by former versions have the manifest and the
// test cases in files of their own.
func (f folder) get(digest string) (wasm []byte, signer signing.Key, err error) {
	root, err := os.OpenRoot(f.path(digest))
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	files := map[string][]byte{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = readFileIn(root, name, sandbox.MaxModule)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	signature, err := parseSignature(files[signatureName])
	if err != nil {
		return nil, "", err
	}
	delete(files, signatureName)
	sums := sumsOf(files)
	if digestOf(sums, signature) != digest {
		return nil, "", errors.New("the files are not those that were installed")
	}
	if signature != nil {
		signer, err = signature.Key, checkSignature(*signature, sums)
	}
	return files[moduleName], signer, err
}

// formerLogs is the folder of the logs of plugins before they moved into the database.
const formerLogs = "log"

// sweep removes the folders that are not in use. The caller holds the lock. What cannot be
// removed is left for the next sweep.
func (f folder) sweep(used []string) {
	entries, err := os.ReadDir(f.path())
	if err != nil {
		return
	}
	_ = os.RemoveAll(f.path(formerLogs))
	for _, e := range entries {
		if e.IsDir() && digestName.MatchString(e.Name()) && !slices.Contains(used, e.Name()) {
			_ = os.RemoveAll(f.path(e.Name()))
		}
	}
	if stage, err := durable.NewStage(f.path(), stagePrefix); err == nil { // removes old stages
		_ = stage.Remove()
	}
}

// chown gives the file at path to the owner of the data folder: root may install plugins,
// but the box seldom runs as root.
func (f folder) chown(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	var owner unix.Stat_t
	if err := unix.Stat(f.data, &owner); err != nil {
		return os.NewSyscallError("stat", err)
	}
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}
