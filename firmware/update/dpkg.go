package update

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The folders of an update's work folder.
const (
	newFolder = "new" // the members of the release file
	oldFolder = "old" // the repacked old package
	aptFolder = "apt" // lists and caches of apt, which know only the release file
	runFolder = "run" // the unpacked new package, to run its program before it is installed
)

// debianFolder has the packages that the new version depends on, among the members of the
// release file.
const debianFolder = "debian"

// run runs a program of Debian's packaging. What it prints goes to the log, and the end of
// that into the error. Ctrl-C on the terminal does not reach it: dpkg must not stop in
// the middle.
func (u *Updater) run(ctx context.Context, name string, args ...string) (printed string, err error) {
	var out bytes.Buffer
	fmt.Fprintf(u.log, "$ %s %s\n", name, strings.Join(args, " "))
	c := exec.CommandContext(ctx, name, args...)
	c.Cancel = func() error { return nil } // the caller goes back when it has ended
	c.Stdout = io.MultiWriter(u.log, &out)
	c.Stderr = c.Stdout
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", "NEEDRESTART_SUSPEND=1",
		"APT_LISTCHANGES_FRONTEND=none")
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, complaint(out.String()))
	}
	return out.String(), ctx.Err()
}

// complaint returns the line of apt's or dpkg's output that says what is wrong.
func complaint(printed string) string {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "E: "); ok && !strings.HasPrefix(rest, "Sub-process") {
			return rest
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, "dpkg: error") {
			return strings.TrimSpace(strings.Join(lines[i:min(i+2, len(lines))], " "))
		}
	}
	return lines[len(lines)-1]
}

// aptGet runs apt-get with the packages of the release file and those that are installed,
// without a network. It removes no package.
func (u *Updater) aptGet(ctx context.Context, args ...string) (printed string, err error) {
	apt := u.work(aptFolder)
	return u.run(ctx, "apt-get", slices.Concat([]string{
		"--quiet", "--assume-yes", "--no-install-recommends", "--no-remove", "--allow-change-held-packages",
		"-o", "Dir::Etc::sourcelist=" + filepath.Join(apt, "sources.list"),
		"-o", "Dir::Etc::sourceparts=/dev/null",
		"-o", "Dir::State::lists=" + filepath.Join(apt, "lists"),
		"-o", "Dir::Cache=" + filepath.Join(apt, "cache"),
		"-o", "APT::Sandbox::User=root", // the folder is for root alone
		"-o", "DPkg::Lock::Timeout=60",
		"-o", "Dpkg::Options::=--force-confdef", // a changed settings file stays as it is
		"-o", "Dpkg::Options::=--force-confold",
	}, args)...)
}

// prepareApt gives apt the packages of the release file.
func (u *Updater) prepareApt(ctx context.Context) error {
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(u.work(aptFolder, folder), 0o700); err != nil {
			return err
		}
	}
	sources := ""
	if _, err := os.Stat(u.work(newFolder, debianFolder, "Packages")); err == nil {
		// The release file is signed as a whole.
		sources = fmt.Sprintf("deb [trusted=yes] file:%s %s/\n", u.work(newFolder), debianFolder)
	}
	if err := os.WriteFile(u.work(aptFolder, "sources.list"), []byte(sources), 0o600); err != nil {
		return err
	}
	_, err := u.aptGet(ctx, "update")
	return err
}

// install installs the new package.
func (u *Updater) install(ctx context.Context, j *journal) error {
	u.say("installing %s", j.To)
	deb, err := oneFile(u.work(newFolder, "*.deb"))
	if err != nil {
		return err
	}
	if _, err := u.aptGet(ctx, "install", deb); err != nil {
		return fmt.Errorf("installing %s: %w", j.To, err)
	}
	return nil
}

// installOld installs the old package again, unless it is installed, and completes other
// packages that were being installed.
func (u *Updater) installOld(ctx context.Context, j *journal) error {
	if err := u.awaitLock(ctx); err != nil {
		return err
	}
	broken, err := u.incomplete(ctx)
	if err != nil {
		return err
	}
	version, _, err := Installed(ctx)
	if err == nil && upstream(version) == j.From && len(broken) == 0 {
		return nil
	}
	u.say("installing %s", j.From)
	old, err := oneFile(u.work(oldFolder, "*.deb"))
	if err != nil {
		return err
	}
	unpack := []string{"--force-confdef", "--force-confold", "--force-downgrade", "--unpack", old}
	for _, name := range broken {
		// A dependency: dpkg cannot configure one that it had not unpacked completely.
		debs, err := filepath.Glob(u.work(newFolder, debianFolder, name+"_*.deb"))
		if err != nil {
			return err
		}
		unpack = append(unpack, debs...)
	}
	_, unpacked := u.run(ctx, "dpkg", unpack...)
	_, configured := u.run(ctx, "dpkg", "--force-confdef", "--force-confold", "--configure", "--pending")
	// What counts is the state of the package: another one may have been broken before.
	version, _, err = Installed(ctx)
	if err == nil && upstream(version) != j.From {
		err = fmt.Errorf("version %s is installed", version)
	}
	if err != nil {
		return fmt.Errorf("installing %s again: %w", j.From, errors.Join(err, unpacked, configured))
	}
	return nil
}

// incomplete returns the names of packages that dpkg was working on, without ours.
func (u *Updater) incomplete(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "dpkg-query", "--show", "--showformat",
		"${db:Status-Status} ${Package}\n").Output()
	if err != nil {
		return nil, fmt.Errorf("asking dpkg for its packages: %w", err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		status, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != Package && !slices.Contains([]string{"installed", "config-files", "not-installed"}, status) {
			names = append(names, name)
		}
	}
	return names, nil
}

// oneFile returns the file that a pattern matches.
func oneFile(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("%s: %d files, not one", pattern, len(files))
	}
	if err != nil {
		return "", err
	}
	return files[0], nil
}

// upstream returns the version of Parley for the version of its package, in which ~ stands
// before a pre-release.
func upstream(debian string) string { return strings.ReplaceAll(debian, "~", "-") }

// dpkgLocks are the locks that apt and dpkg hold while they work.
var dpkgLocks = []string{"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"}

// dpkgUser returns the process that holds one of dpkg's locks, or 0.
func dpkgUser() (pid int32, err error) {
	for _, path := range dpkgLocks {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		err = unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock)
		f.Close()
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		if lock.Type != unix.F_UNLCK {
			return max(lock.Pid, 1), nil
		}
	}
	return 0, nil
}

// awaitLock waits until nobody uses dpkg: a killed update can leave a dpkg that works on.
func (u *Updater) awaitLock(ctx context.Context) error {
	for deadline := time.Now().Add(u.Limits.Locks); ; {
		pid, err := dpkgUser()
		if err != nil || pid == 0 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d still uses dpkg", pid)
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
