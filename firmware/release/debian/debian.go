// Package debian fetches Debian packages, with all that they depend on, for a machine
// that has only a minimal Debian and no network.
//
// It uses this machine's apt-get and sources, but none of its state: the packages are
// those that an empty machine would need.
package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Control describes a Debian package.
type Control struct {
	Package, Version, Architecture string

	Made time.Time
}

// ReadControl reads the fields of a .deb file.
func ReadControl(ctx context.Context, deb string) (Control, error) {
	if _, err := os.Stat(deb); err != nil {
		return Control{}, err
	}
	text, err := output(exec.CommandContext(ctx, "dpkg-deb", "-f", deb))
	if err != nil {
		return Control{}, fmt.Errorf("%s is not a Debian package: %w", deb, err)
	}
	made, err := madeAt(deb)
	return Control{fieldOf(text, "Package"), fieldOf(text, "Version"), fieldOf(text, "Architecture"), made}, err
}

// madeAt returns the time of the first member of a .deb file, an ar archive: behind the
// magic number, 16 bytes with the member's name, and 12 with its time in seconds.
func madeAt(deb string) (time.Time, error) {
	f, err := os.Open(deb)
	if err != nil {
		return time.Time{}, err
	}
	defer f.Close()
	seconds := make([]byte, 12)
	if _, err := f.ReadAt(seconds, int64(len("!<arch>\n")+16)); err != nil {
		return time.Time{}, err
	}
	unix, err := strconv.ParseInt(strings.TrimSpace(string(seconds)), 10, 64)
	return time.Unix(unix, 0), err
}

// fieldOf returns a field of a control file (Debian Policy, section 5.1), on one line.
func fieldOf(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// A Machine names a release of Debian by its code name, and a processor as dpkg does.
type Machine struct{ Suite, Arch string }

// ThisMachine returns the release and processor of this machine. The suite is empty if its
// system is not a Debian.
func ThisMachine(ctx context.Context) (Machine, error) {
	arch, err := output(exec.CommandContext(ctx, "dpkg", "--print-architecture"))
	if err != nil {
		return Machine{}, fmt.Errorf("this works on a Debian only: %w", err)
	}
	return Machine{suiteOf("/etc/os-release"), strings.TrimSpace(arch)}, nil
}

// suiteOf returns the code name in an os-release file, empty if it is not a Debian's.
func suiteOf(osRelease string) string {
	text, _ := os.ReadFile(osRelease) // without the file it is no Debian
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		values[name] = strings.Trim(value, `"'`)
	}
	if values["ID"] != "debian" {
		return ""
	}
	return values["VERSION_CODENAME"]
}

// output runs a command in a process group of its own, which ends with ctx, and returns
// its output. The error has the last lines of its complaint.
func output(cmd *exec.Cmd) (string, error) {
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 2 * time.Second // for a grandchild that holds our pipe
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		// The first errors are the causes; the rest follows from them.
		err = fmt.Errorf("%s failed: %.600s", filepath.Base(cmd.Path), strings.Join(lines[:min(len(lines), 6)], " / "))
	}
	return out.String(), err
}
