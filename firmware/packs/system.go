package packs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// systemRoot is the root of the operating system's files.
const systemRoot = "/"

// inspectSystem looks for the library and the data of a System pack in the folders where
// Linux distributions have them.
func inspectSystem(p Pack, root string) State {
	s := State{Pack: p, Status: Ready}
	libraries := []string{"usr/lib/*-linux-gnu*", "usr/lib64", "usr/lib", "usr/local/lib", "lib/*-linux-gnu*"}
	for _, part := range []struct {
		name  string
		under []string
	}{
		{p.System.Library, libraries},
		{p.System.Data, append(libraries, "usr/share", "usr/local/share")},
	} {
		if !findAny(root, part.under, part.name) {
			s.Status = Absent
			s.Why = part.name + " is not installed"
			s.Mend = strings.Join(append([]string{"apt-get install"}, p.System.Packages...), " ")
			break
		}
	}
	return s
}

func findAny(root string, folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		found, err := filepath.Glob(filepath.Join(root, folder, name))
		return err == nil && len(found) > 0
	})
}

// installSystem installs a System pack with apt-get, as root or through a sudo that needs
// no password. Otherwise the error has the command for the operator to run.
func installSystem(ctx context.Context, p Pack, c clients) error {
	command := append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, p.System.Packages...)
	if os.Geteuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
	}
	byHand := fmt.Sprintf("run as root: apt-get install %s", strings.Join(p.System.Packages, " "))
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("pack %s belongs to the operating system, and there is no apt-get: install "+
			"%s with the system's own package manager", p.Name, strings.Join(p.System.Packages, " and "))
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	// Interrupted, not killed, so that apt-get ends between two packages.
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 20 * time.Second
	if err := c.run(cmd); err != nil {
		return fmt.Errorf("pack %s: %w; %s", p.Name, err, byHand)
	}
	if s := inspectSystem(p, systemRoot); s.Status != Ready {
		return fmt.Errorf("pack %s: apt-get installed it, but %s", p.Name, s.Why)
	}
	return nil
}
