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

// session runs a language's tools, and shows what it runs.
type session struct {
	ctx context.Context
	out io.Writer // the commands and what they say
}

// run runs a command in dir with variables beside those of this process. What it
// writes to standard output goes to stdout, or where that is nil to where its
// complaints go.
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
	// Compilers start others: all of them get the signal, and five seconds.
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

// ask is what a command prints, without the line's end; empty where it fails.
func ask(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// programs are the paths of all programs of a name: in PATH, then in more
// folders.
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
