package update

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/firmware/release"
	"parley/internal/progress"
	"parley/internal/signing"
)

// The fake box.
const (
	dataFolder     = "/var/lib/parley-test"
	packsFolder    = "/var/cache/parley-test/packs"
	serviceProgram = "/usr/local/sbin/parley-test-service"
	runningFile    = "/run/parley-test"
)

// service starts the fake box: it migrates the database, and needs the packs of its version.
const service = `#!/bin/sh
v=$(cat /usr/share/parley/version)
kind=$(cat /usr/share/parley/kind)
case $1 in
start)
	read schema said </var/lib/parley-test/parley.db
	[ "$(cat /var/cache/parley-test/packs/model/version)" = "$v" ] || exit 1
	if [ "$v" = 0.1.0 ]; then [ "$schema" = 1 ] || exit 1; else
		[ -e /var/cache/parley-test/packs/extra/version ] || exit 1
		[ -e /usr/share/parley-test-library ] || exit 1
		echo "2 $said" >/var/lib/parley-test/parley.db
	fi
	[ "$kind" = exits ] || echo "$v $kind" >/run/parley-test ;;
stop) rm -f /run/parley-test ;;
status) [ -e /run/parley-test ] ;;
esac
`

// program is the fake parley.
const program = `#!/bin/sh
case $1 in
version) echo '{"version": "@VERSION@", "schema": 2}' ;;
packs) tar -x -C "$PARLEY_PACKS" ;;
esac
`

type fakeBox struct{}

func (fakeBox) Chats(context.Context) (int, error) { return 0, nil }

func (fakeBox) Key(context.Context) (string, error) { return "key", nil }

func (fakeBox) Schema(context.Context) (n int64, err error) {
	text, err := os.ReadFile(dataFolder + "/parley.db")
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	return n, err
}

func (fakeBox) Backup(_ context.Context, file string, _ progress.Func) error {
	return copyFile(dataFolder+"/parley.db", file)
}

func (fakeBox) CopyDatabase(_ context.Context, file string) error {
	return copyFile(dataFolder+"/parley.db", file)
}

func (fakeBox) Ready(context.Context) error { return unlessKind("unready") }

func (fakeBox) Ask(context.Context, string) error { return unlessKind("silent") }

func unlessKind(kind string) error {
	text, err := os.ReadFile(runningFile)
	if err == nil && strings.Contains(string(text), kind) {
		err = errors.New("it is " + kind)
	}
	return err
}

func fakeUpdater(tell func(string)) *Updater {
	if tell == nil {
		tell = func(string) {}
	}
	limits := DefaultLimits()
	limits.Load, limits.Ready, limits.Steady, limits.Answer = time.Second, time.Second, time.Second, time.Second
	return &Updater{
		Folder:  "/var/lib/parley-update",
		Data:    dataFolder,
		Packs:   packsFolder,
		Box:     fakeBox{},
		Service: Script(serviceProgram),
		Tell:    tell,
		Limits:  limits,
	}
}

// build builds a Debian package of files, in the folder dir.
func build(t *testing.T, dir, name, version string, control string, files map[string]string) string {
	t.Helper()
	folder, err := os.MkdirTemp(dir, "build-")
	must(t, err)
	must(t, os.Chmod(folder, 0o755))
	files["DEBIAN/control"] = fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: amd64\n"+
		"Maintainer: nobody <nobody@localhost>\nDescription: a package of a test\n%s", name, version, control)
	for path, text := range files {
		path = filepath.Join(folder, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		must(t, os.WriteFile(path, []byte(text), mode))
		must(t, os.Chmod(path, mode))
	}
	file := filepath.Join(dir, fmt.Sprintf("%s_%s_amd64.deb", name, version))
	out, err := exec.Command("dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// parley builds the fake package of a version. Of a kind other than "good" the box exits,
// never gets ready, or answers nothing; or its installation fails.
func parley(t *testing.T, dir, version, kind string) string {
	files := map[string]string{
		"usr/bin/parley":           strings.Replace(program, "@VERSION@", version, 1),
		"usr/share/parley/version": version + "\n",
		"usr/share/parley/kind":    kind + "\n",
		"usr/share/parley/" + kind: "",
	}
	fillers := 5
	if os.Getenv(killsVariable) != "" {
		fillers = 200 // dpkg takes longer, so that more of the power cuts interrupt it
	}
	for i := range fillers {
		files[fmt.Sprint("usr/share/parley/filler/", i)] = strings.Repeat(version, 2000*(i%20))
	}
	control := ""
	if version != "0.1.0" {
		control = "Depends: parley-test-library\n"
	}
	if kind == "uninstallable" {
		files["DEBIAN/postinst"] = "#!/bin/sh\nexit 1\n"
	}
	return build(t, dir, Package, version, control, files)
}

// write writes a file of a release of version 0.1.1 into the tree.
func (tr tree) write(kind string, key ed25519.PrivateKey, change func(*release.Manifest)) {
	t, dir := tr.t, filepath.Join(tr.dir, "parts-"+kind+fmt.Sprint(rand.Int()))
	must(t, os.Mkdir(dir, 0o755))
	m := release.Manifest{Version: "0.1.1", Arch: "amd64", Suite: suiteHere(t), Schema: 2, PacksBytes: 1000}
	if change != nil {
		change(&m)
	}
	deb := parley(t, dir, m.Version, kind)
	library := build(t, dir, "parley-test-library", "1", "", map[string]string{
		"usr/share/parley-test-library": strings.Repeat("x", 1<<20)})
	text, err := os.ReadFile(library)
	must(t, err)
	fields, err := exec.Command("dpkg-deb", "--field", library).Output()
	must(t, err)
	index := fmt.Sprintf("%sFilename: debian/%s\nSize: %d\nSHA256: %x\n", fields, filepath.Base(library), len(text),
		sha256.Sum256(text))
	must(t, os.WriteFile(filepath.Join(dir, "Packages"), []byte(index), 0o644))
	for _, name := range []string{"model", "extra"} {
		must(t, os.MkdirAll(filepath.Join(dir, "packs", name), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "packs", name, "version"), []byte("0.1.1\n"), 0o644))
	}
	out, err := exec.Command("tar", "-c", "-f", filepath.Join(dir, "packs.tar"), "-C", filepath.Join(dir, "packs"),
		"model", "extra").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, release.Write(context.Background(), filepath.Join(tr.root, "release"), m, []release.Source{
		{Name: release.PackageName(m.Version, m.Arch), Path: deb},
		{Name: release.PacksName, Path: filepath.Join(dir, "packs.tar")},
		{Name: "debian/" + filepath.Base(library), Path: library},
		{Name: release.IndexName, Path: filepath.Join(dir, "Packages")},
	}, key, nil))
}

func suiteHere(t *testing.T) string {
	suite, err := debianRelease()
	if err != nil {
		t.Skip(err)
	}
	return suite
}

// installed returns a tree with version 0.1.0, running, that trusts a key.
func installed(t *testing.T, dir string) (tree, ed25519.PrivateKey) {
	tr := tree{t: t, dir: dir}.grow()
	public, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	_ = public
	files := map[string]string{
		"var/lib/parley-test/parley.db":             "1 hello\n",
		"var/cache/parley-test/packs/model/version": "0.1.0\n",
		serviceProgram:                 service,
		"usr/share/parley/release.pub": string(signing.KeyOf(key)) + "\n",
		"etc/dpkg/dpkg.cfg.d/test":     "force-unsafe-io\n", // a tmpfs needs no sync
	}
	for path, text := range files {
		path = filepath.Join(tr.root, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	must(t, copyFile(parley(t, dir, "0.1.0", "good"), filepath.Join(tr.root, "old.deb")))
	tr.shell(`dpkg --install /old.deb && ` + serviceProgram + ` start`)
	return tr, key
}
