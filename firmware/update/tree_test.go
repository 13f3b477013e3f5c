package update

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
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
// tmpfs there. It returns "" to the test outside, which is over then. The tests run in
// parallel: a trial spends most of its time waiting for the kernel to make and end
// namespaces and mounts.
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
	t.Parallel()
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

func (tr tree) shell(script string) {
	tr.t.Helper()
	if out, err := tr.command("shell", script).CombinedOutput(); err != nil {
		tr.t.Fatalf("%s: %v: %s", script, err, out)
	}
}
