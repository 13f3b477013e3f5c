package release

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A machine is a folder of commands that stand for those of a Debian, in front of the real
// ones: the shell, dd, sed, awk and sha256sum run as they are.
type machine struct {
	t   *testing.T
	bin string
}

// newMachine returns a machine that a file of example fits. apt-get and what changes a
// machine write their arguments to the file calls.
func newMachine(t *testing.T) machine {
	m := machine{t, t.TempDir()}
	m.command("dpkg", `case $1 in --print-architecture) echo amd64 ;; --compare-versions) [ "$2" \> "$4" ] ;; esac`)
	m.command("dpkg-query", `exit 1`)
	m.command("id", `echo 0`)
	for _, name := range []string{"apt-get", "setpriv", "systemctl"} {
		m.command(name, `echo "`+name+` $*" >>`+m.bin+`/calls`)
	}
	return m
}

func (m machine) command(name, script string) {
	m.t.Helper()
	must(m.t, os.WriteFile(filepath.Join(m.bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

// run runs a release file with sh, with suite in the machine's os-release.
func (m machine) run(file, suite string, args ...string) (out string, code int) {
	m.t.Helper()
	text, err := os.ReadFile(file)
	must(m.t, err)
	// The shell runs a copy of the file's script that reads another os-release.
	release := filepath.Join(m.bin, "os")
	must(m.t, os.WriteFile(release, []byte("VERSION_CODENAME="+suite+"\nPRETTY_NAME='A Debian'\n"), 0o600))
	script := strings.Replace(string(text[:ScriptBytes]), "/etc/os-release", release, 1)
	cmd := exec.CommandContext(m.t.Context(), "sh", append([]string{"-c", script, file}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+m.bin+":/usr/bin:/bin", "TMPDIR="+m.t.TempDir())
	cmd.Dir = filepath.Dir(file)
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return all.String(), cmd.ProcessState.ExitCode()
}

// calls returns what was called of the commands that change a machine.
func (m machine) calls() string {
	text, _ := os.ReadFile(filepath.Join(m.bin, "calls")) // without calls there is no file
	return string(text)
}

// intact writes a signed release file.
func intact(t *testing.T) string {
	t.Helper()
	key, _ := newKey(t)
	return written(t, key)
}

func TestScriptUnpacksWhatWasWritten(t *testing.T) {
	file, m := intact(t), newMachine(t)
	dir := filepath.Join(t.TempDir(), "new")
	out, code := m.run(file, "none", "--extract", dir)
	for _, c := range contents {
		text, err := os.ReadFile(filepath.Join(dir, c.name))
		if err != nil || string(text) != c.text {
			t.Errorf("%s is %q, %v", c.name, text, err)
		}
	}
	if code != 0 || m.calls() != "" {
		t.Errorf("exit code %d, called %s:\n%s", code, m.calls(), out)
	}
	if out, code := m.run(file, "none", "--extract", dir); code != 1 || !strings.Contains(out, "exists already") {
		t.Errorf("into a folder that exists: %d, %s", code, out)
	}
	if out, err := exec.CommandContext(t.Context(), "sh", file, "--help").CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "install Parley 0.1.0") {
		t.Errorf("sh FILE --help: %v, %s", err, out)
	}
	tar := exec.CommandContext(t.Context(), "sh", "-c", "tail -c +32769 "+file+" | tar -t")
	if list, err := tar.Output(); err != nil || strings.Count(string(list), "\n") != len(contents)+2 {
		t.Errorf("behind the script is no tar archive: %v, %s", err, list)
	}
}

func TestScriptRefusesOtherMachinesAndChangesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		suite   string
		prepare func(machine)
		want    string
	}{
		"another release": {"trixie", func(machine) {}, "A Debian, and the file is for Debian 12"},
		"another processor": {"bookworm", func(m machine) { m.command("dpkg", "echo arm64") },
			"architecture arm64, and the file is for amd64"},
		"no root": {"bookworm", func(m machine) { m.command("id", "echo 1000") }, "run: sudo sh"},
		"an older Parley": {"bookworm", func(m machine) {
			m.command("dpkg-query", `case $* in *parley-box*) echo "installed 0.0.9" ;; esac`)
		}, "run: parley update"},
		"a newer Parley": {"bookworm", func(m machine) {
			m.command("dpkg-query", `case $* in *parley-box*) echo "installed 0.2.0" ;; esac`)
		}, "is newer than 0.1.0"},
		"a newer Parley that was removed": {"bookworm", func(m machine) {
			m.command("dpkg-query", `case $* in *parley-box*) echo "config-files 0.2.0" ;; esac`)
		}, "was removed, which is newer than 0.1.0"},
		"another program of that name": {"bookworm", func(m machine) {
			m.command("dpkg-query", `case $* in *parley) echo installed ;; esac`)
		}, "apt-get remove parley"},
	} {
		m := newMachine(t)
		c.prepare(m)
		out, code := m.run(intact(t), c.suite)
		if code != 1 || !strings.Contains(out, c.want) || m.calls() != "" {
			t.Errorf("%s: exit code %d, called %q:\n%s", name, code, m.calls(), out)
		}
	}
}

func TestScriptChecksEveryPartBeforeItChangesAnything(t *testing.T) {
	file := intact(t)
	f := opened(t, file)
	good, err := os.ReadFile(file)
	must(t, err)
	m := newMachine(t)
	for _, c := range contents {
		if c.text == "" {
			continue
		}
		bad := bytes.Clone(good)
		bad[f.offset[c.name]] ^= 1
		must(t, os.WriteFile(file, bad, 0o600))
		out, code := m.run(file, "bookworm", "--check")
		if code != 1 || !strings.Contains(out, c.name) || !strings.Contains(out, "is damaged") || m.calls() != "" {
			t.Errorf("%s is damaged: exit code %d, called %q:\n%s", c.name, code, m.calls(), out)
		}
	}
	must(t, os.WriteFile(file, good[:len(good)-block], 0o600))
	if out, code := m.run(file, "bookworm", "--check"); code != 1 || !strings.Contains(out, "and should have") {
		t.Errorf("a file that is cut off: exit code %d:\n%s", code, out)
	}
	must(t, os.WriteFile(file, good, 0o600))
	out, code := m.run(file, "bookworm", "--check")
	if code != 0 || !strings.Contains(m.calls(), "-s -f --no-remove -y install parley-box=0.1.0") {
		t.Errorf("an intact file: exit code %d, called %q:\n%s", code, m.calls(), out)
	}
}

// parley bundle install checks the signature; somebody who can write the file's folder must not
// exchange the file after that.
func TestScriptRefusesAFileThatWasExchangedAfterTheCheck(t *testing.T) {
	file := intact(t)
	t.Setenv("MANIFEST_SHA256", strings.TrimPrefix(opened(t, file).Environ(), "MANIFEST_SHA256="))
	m := newMachine(t)
	if out, code := m.run(file, "bookworm", "--check"); code != 0 {
		t.Errorf("the same file: exit code %d:\n%s", code, out)
	}
	m = newMachine(t)
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, bytes.Replace(text, []byte(`"commit": "`), []byte(`"commiT": "`), 1), 0o600))
	out, code := m.run(file, "bookworm")
	if code != 1 || !strings.Contains(out, "was changed after its signature") || m.calls() != "" {
		t.Errorf("another file: exit code %d, called %q:\n%s", code, m.calls(), out)
	}
}

// Without the file behind it, as when it comes from a pipe, the script installs nothing.
func TestScriptWithoutItsFileDoesNothing(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sh")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "save the file, then run") {
		t.Errorf("%v, %s", err, out)
	}
}

// The script pins the manifest that it has checked for the program that adds the packs.
func TestAFileThatWasExchangedAddsNoPacks(t *testing.T) {
	f := opened(t, intact(t))
	if err := f.CheckEnviron([]string{"HOME=/", f.Environ()}); err != nil {
		t.Error(err)
	}
	if err := f.CheckEnviron(nil); err != nil {
		t.Error(err)
	}
	changed := strings.Replace(f.Environ(), "=", "=0", 1)
	if err := f.CheckEnviron([]string{changed}); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("%v", err)
	}
}
