package update

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"parley/firmware/release"
)

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
