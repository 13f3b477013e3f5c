package author

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// session runs a language's tools, and shows the commands.
type session struct {
	ctx context.Context
	out io.Writer // commands and their output
}

// run runs a command in dir, with vars added to the environment. Standard output goes to
// stdout, or if that is nil to the same place as standard error.
func (s *session) run(dir string, vars []string, stdout io.Writer, name string, args ...string) error {
	shown := append(append(slices.Clone(vars), name), args...)
	for i, word := range shown {
		if strings.ContainsAny(word, " '\"$") {
			shown[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	fmt.Fprintf(s.out, "$ %s\n", strings.Join(shown, " "))
	cmd := exec.CommandContext(s.ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), vars...)
	cmd.Stdout, cmd.Stderr = stdout, s.out
	if stdout == nil {
		cmd.Stdout = s.out
	}
	// Compilers start other programs: all of them get the signal, and five seconds.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

// outputOf returns what a command prints, without the line end; empty if it fails.
func outputOf(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// programs returns the paths of all programs of a name: in PATH, then in more folders.
func programs(name string, more ...string) []string {
	return programsIn(append(filepath.SplitList(os.Getenv("PATH")), more...), name)
}

func programsIn(folders []string, name string) (found []string) {
	for _, dir := range folders {
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil && filepath.IsAbs(path) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}
