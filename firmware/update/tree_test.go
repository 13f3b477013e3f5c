package update

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"parley/firmware/release"
	"parley/internal/progress"
	"parley/internal/signing"
)

// The tests update a small package named parley-box with the real dpkg and apt. A tree is
// this machine's root as an overlay, so that a trial begins within milliseconds and changes
// nothing here. All processes of a trial are in a namespace that ends with its first
// process: killing that is a power cut.

// roleVariable names what this test program does as a child process; insideVariable is set
// in the mount namespace in which the tests run.
const (
	roleVariable   = "PARLEY_UPDATE_TEST_ROLE"
	insideVariable = "PARLEY_UPDATE_TEST_INSIDE"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// inside runs the test again in a mount namespace of its own, with a tmpfs, and returns the
// tmpfs there. It returns "" to the test outside, which is over then.
func inside(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv(insideVariable); dir != "" {
		must(t, separate())
		must(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=755"))
		return dir
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a tree")
	}
	for _, name := range []string{"dpkg-deb", "apt-get"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("this machine has no " + name)
		}
	}
	c := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v", "-test.timeout", "0")
	c.Env = append(os.Environ(), insideVariable+"="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the death of this thread would be the signal
	defer runtime.UnlockOSThread()
	out, err := c.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skip("this machine allows no mounts")
	}
	if bytes.Contains(out, []byte("--- SKIP")) {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("%s", out)
	} else {
		t.Logf("%s", out)
	}
	return ""
}

// separate keeps the mounts of this process to itself.
func separate() error {
	err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	if !errors.Is(err, syscall.EINVAL) {
		return err
	}
	// In a chroot, where / is not the top of a mount.
	mounts, unread := os.ReadFile("/proc/self/mountinfo")
	if unread == nil && !bytes.Contains(mounts, []byte(" shared:")) {
		return nil
	}
	return err
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree is a system: layers over this machine's root.
type tree struct {
	t      *testing.T
	dir    string // of the tmpfs
	layers []string
	root   string // where it is mounted
}

// grow returns a new tree that begins as tr is now. tr must not be used after that.
func (tr tree) grow() tree {
	tr.t.Helper()
	dir, err := os.MkdirTemp(tr.dir, "tree-")
	must(tr.t, err)
	for _, name := range []string{"upper", "work", "root"} {
		must(tr.t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	if len(tr.layers) == 0 {
		emptyDpkg(tr.t, filepath.Join(dir, "upper"))
	}
	layers := append([]string{filepath.Join(dir, "upper")}, tr.layers...)
	grown := tree{tr.t, tr.dir, layers, filepath.Join(dir, "root")}
	// redirect_dir: folders of a lower layer can be renamed, as on a disk.
	options := fmt.Sprintf("redirect_dir=on,lowerdir=%s,upperdir=%s,workdir=%s",
		strings.Join(append(tr.layers, "/"), ":"), grown.layers[0], filepath.Join(dir, "work"))
	if err := syscall.Mount("overlay", grown.root, "overlay", 0, options); err != nil {
		tr.t.Skipf("this machine cannot mount a tree: %v", err)
	}
	return grown
}

// emptyDpkg gives a layer a dpkg that knows no package, in place of this machine's, which
// may be at work.
func emptyDpkg(t *testing.T, layer string) {
	admin := filepath.Join(layer, "var/lib/dpkg")
	for _, name := range []string{"info", "updates", "triggers", "parts", "alternatives"} {
		must(t, os.MkdirAll(filepath.Join(admin, name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(admin, "status"), nil, 0o644))
	must(t, syscall.Setxattr(admin, "trusted.overlay.opaque", []byte("y"), 0))
}

func (tr tree) fell() {
	must(tr.t, syscall.Unmount(tr.root, syscall.MNT_DETACH))
	must(tr.t, os.RemoveAll(filepath.Dir(tr.root)))
}

// command returns a command of this test program in the tree, in namespaces of its own.
func (tr tree) command(role string, args ...string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", args...)
	c.Env = append(os.Environ(), roleVariable+"="+role, "PARLEY_UPDATE_TEST_ROOT="+tr.root)
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET}
	return c
}

// play enters the tree and plays a role there.
func play(role string, args []string) error {
	root := os.Getenv("PARLEY_UPDATE_TEST_ROOT")
	steps := []error{
		separate(),
		syscall.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""),
		syscall.Mount("/dev", filepath.Join(root, "dev"), "", syscall.MS_BIND|syscall.MS_REC, ""),
		syscall.Chroot(root),
		os.Chdir("/"),
	}
	if err := errors.Join(steps...); err != nil {
		return err
	}
	switch role {
	case "shell":
		out, err := exec.Command("sh", "-ec", args[0]).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	case "prepare":
		return underLock(fakeUpdater(nil), func(u *Updater) error { return prepareFrom(u, "/release") })
	case "apply":
		return underLock(fakeUpdater(waitAt(args[0])), func(u *Updater) error { return u.Apply(context.Background()) })
	case "boot":
		return boot()
	case "killed":
		return killUpdater(args[0])
	case "hold":
		f, err := os.OpenFile(dpkgLocks[0], os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK})
		}
		fmt.Println("locked")
		time.Sleep(time.Hour)
		return err
	}
	return hindered(role)
}

// hindered prepares an update on a machine on which something is in its way.
func hindered(what string) error {
	prepare := func() error {
		return underLock(fakeUpdater(nil), func(u *Updater) error { return prepareFrom(u, "/release") })
	}
	var err error
	switch what {
	case "locked":
		holder := exec.Command("/proc/self/exe")
		holder.Env = append(os.Environ(), roleVariable+"=hold", "PARLEY_UPDATE_TEST_ROOT=/")
		if _, err = begin(holder); err == nil {
			defer func() { _ = holder.Process.Kill() }()
		}
	case "readonly":
		err = errors.Join(syscall.Mount("/usr", "/usr", "", syscall.MS_BIND, ""),
			syscall.Mount("/usr", "/usr", "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	case "full":
		err = errors.Join(os.MkdirAll("/var/lib/parley-update", 0o711),
			syscall.Mount("tmpfs", "/var/lib/parley-update", "tmpfs", 0, "size=1m"))
	case "twice":
		return underLock(fakeUpdater(nil), func(*Updater) error { return prepare() })
	case "broken":
		_ = exec.Command("dpkg", "--install", "/broken.deb").Run() // fails
	default:
		return fmt.Errorf("there is no role %q", what)
	}
	if err != nil {
		return err
	}
	return prepare()
}

// begin starts a command, and returns the first line that it prints.
func begin(c *exec.Cmd) (line string, err error) {
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err == nil {
		line, err = bufio.NewReader(out).ReadString('\n')
	}
	return line, err
}

// killUpdater kills the updater alone after a time, so that a dpkg may live on, and does
// then what systemd does.
func killUpdater(after string) error {
	c := exec.Command("/proc/self/exe", "0")
	c.Env = append(os.Environ(), roleVariable+"=apply", "PARLEY_UPDATE_TEST_ROOT=/")
	wait, err := time.ParseDuration(after)
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return err
	}
	time.Sleep(wait)
	_ = c.Process.Kill()
	_ = c.Wait()
	return boot()
}

// waitAt returns a function that prints each line, and after the nth waits for the power
// cut.
func waitAt(n string) func(line string) {
	count := 0
	return func(line string) {
		fmt.Println(line)
		if count++; fmt.Sprint(count) == n {
			select {}
		}
	}
}

func underLock(u *Updater, work func(*Updater) error) error {
	release, err := u.Open()
	if err != nil {
		return err
	}
	defer release()
	return work(u)
}

func prepareFrom(u *Updater, file string) error {
	f, err := release.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	plan, err := u.Examine(context.Background(), f)
	if err != nil {
		return err
	}
	return u.Prepare(context.Background(), f, plan, "/var/lib/parley-update/backups")
}

// boot does what the start of a machine does, and prints the state of the tree.
func boot() error {
	_ = os.Remove(runningFile)
	err := underLock(fakeUpdater(func(string) {}), func(u *Updater) error { return u.Resume(context.Background()) })
	if _, returned := errors.AsType[*ErrReturned](err); err != nil && !returned {
		return err
	}
	if _, err := os.Stat(runningFile); err != nil {
		if err := Script(serviceProgram).Start(context.Background()); err != nil {
			return fmt.Errorf("starting the box: %w", err)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(look())
}

// state is what a tree is like.
type state struct {
	Package, Program, Pack, Extra, Database, Running string
	Faults                                           string // what dpkg complains of
	Left                                             []string
}

func look() (s state) {
	read := func(path string) string {
		text, _ := os.ReadFile(path)
		return strings.TrimSpace(string(text))
	}
	s.Package, _ = query(context.Background(), "${db:Status-Status} ${Version}")
	s.Program = read("/usr/share/parley/version")
	s.Pack = read(packsFolder + "/model/version")
	s.Extra = read(packsFolder + "/extra/version")
	s.Database = read(dataFolder + "/parley.db")
	s.Running = read(runningFile)
	audit, _ := exec.Command("dpkg", "--audit").CombinedOutput()
	verified, _ := exec.Command("dpkg", "--verify", Package).CombinedOutput()
	s.Faults = strings.TrimSpace(string(audit) + string(verified))
	for _, path := range []string{packsFolder + "/" + stagedPacks, dataFolder + "/" + databaseCopy,
		"/var/lib/parley-update/" + journalName, "/var/lib/parley-update/" + workName} {
		if _, err := os.Lstat(path); err == nil {
			s.Left = append(s.Left, path)
		}
	}
	return s
}

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

func (tr tree) shell(script string) {
	tr.t.Helper()
	if out, err := tr.command("shell", script).CombinedOutput(); err != nil {
		tr.t.Fatalf("%s: %v: %s", script, err, out)
	}
}

// prepared returns a tree in which an update to a version of a kind is prepared.
func prepared(t *testing.T, dir, kind string) tree {
	tr, key := installed(t, dir)
	tr.write(kind, key, nil)
	if out, err := tr.command("prepare").CombinedOutput(); err != nil {
		t.Fatalf("preparing: %v: %s", err, out)
	}
	return tr
}

// apply applies the update in the tree, and cuts the power when it has told of its nth act,
// or after a time. It returns what it told.
func (tr tree) apply(n int, after time.Duration) (lines []string) {
	tr.t.Helper()
	c := tr.command("apply", fmt.Sprint(n))
	out, err := c.StdoutPipe()
	must(tr.t, err)
	must(tr.t, c.Start())
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		defer timer.Stop()
	}
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		if lines = append(lines, scanner.Text()); len(lines) == n {
			_ = c.Process.Kill()
		}
	}
	_, _ = io.Copy(io.Discard, out)
	_ = c.Wait() // killed, or it went back
	return lines
}

// boot starts the tree, and returns its state.
func (tr tree) boot() (s state) {
	tr.t.Helper()
	return tr.stateAfter(tr.command("boot"))
}

// stateAfter runs a command that prints a state.
func (tr tree) stateAfter(c *exec.Cmd) (s state) {
	tr.t.Helper()
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(tr.root, "/var/lib/parley-update", logName))
		tr.t.Fatalf("%v: %v: %s\n%s", c.Args, err, complaint.String(), log)
	}
	return s
}

// oldState and newState are the only states that an update may leave.
var (
	oldState = state{Package: "installed 0.1.0", Program: "0.1.0", Pack: "0.1.0", Database: "1 hello",
		Running: "0.1.0 good"}
	newState = state{Package: "installed 0.1.1", Program: "0.1.1", Pack: "0.1.1", Extra: "0.1.1", Database: "2 hello",
		Running: "0.1.1 good"}
)
