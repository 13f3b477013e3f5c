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
	"parley/plugins/sandbox"
)

const (
	lockName    = ".lock"
	stagePrefix = ".new-"
)

// folder is where the files of plugins lie: each package in a folder that its
// digest names, which is put there whole and never changed. Which of them is
// whose stands in the database: a folder that nothing names there is litter.
type folder struct{ data string }

func (f folder) path(names ...string) string {
	return filepath.Join(append([]string{f.data, layout.Plugins}, names...)...)
}

var digestName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// lock is held by who adds or removes files, so that nobody takes another's for
// litter before they are named in the database. It waits for others, in other
// processes too, and ends with its process.
func (f folder) lock(ctx context.Context) (release func(), err error) {
	if err := os.MkdirAll(f.path(), 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of plugins: %w", err)
	}
	if err := f.chown(f.path()); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(f.path(lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the folder of plugins: %w", err)
	}
	if err := f.chown(f.path(lockName)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	// The kernel's lock is waited for on a goroutine of its own, which cannot be
	// called off: it ends when it has the lock, and gives it back if nobody wants
	// it any more. Others hold it for no longer than a self-test takes.
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
			return nil, errors.Join(fmt.Errorf("locking the folder of plugins: %w", err), file.Close())
		}
		return func() { _ = file.Close() }, nil
	case <-ctx.Done():
		go func() { <-got; _ = file.Close() }()
		return nil, context.Cause(ctx)
	}
}

// Hold keeps the files of plugins as they are until release is called: nothing is
// installed, upgraded or removed meanwhile, by no process. Plugins are called all
// the same. Where the data folder has no plugins it does nothing.
func Hold(ctx context.Context, data string) (release func(), err error) {
	f := folder{data}
	if _, err := os.Stat(f.path()); errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil
	}
	return f.lock(ctx)
}

// signatureName is a signature's file in the folder of a package.
const signatureName = "plugin.sig"

// put writes the package into its folder, whole or not at all. Where it is there
// already, nothing is done. The caller holds the lock.
func (f folder) put(p Package) error {
	if _, err := os.Lstat(f.path(p.Digest())); err == nil {
		if _, _, err := f.get(p.Digest()); err == nil {
			return nil // what a crash left is as good
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
		files[signatureName] = p.Signature.text()
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

// get reads the module of the package of that digest, and who signed it, and checks
// that all of its files are that. A package that was installed when they could be
// several has its manifest and its cases in files of their own.
func (f folder) get(digest string) (wasm []byte, signer Key, err error) {
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
		return nil, "", errors.New("they are not what was installed")
	}
	if signature != nil {
		err = signature.check(sums)
	}
	return files[moduleName], signature.signer(), err
}

// formerLogs is where boxes had the logs of plugins before those were in the database.
const formerLogs = "log"

// sweep removes the folders that are not in use. The caller holds the lock. What
// cannot be removed stays for the next time.
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
	if stage, err := durable.NewStage(f.path(), stagePrefix); err == nil { // which removes those of the dead
		_ = stage.Remove()
	}
}

// chown gives what lies at path to who has the data folder: a box seldom runs as
// the user, root, who installs plugins.
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
