package deb

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..")

// debian makes the package of bin/parley in a temporary folder, and returns its file.
func debian(t *testing.T) string {
	t.Helper()
	program := filepath.Join(root, "bin", "parley")
	if _, err := os.Stat(program); err != nil {
		t.Skipf("%v: make build", err)
	}
	dist := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "./package", runtime.GOARCH, "bin/parley")
	cmd.Env = append(os.Environ(), "DIST="+dist)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tools/deb/package: %v\n%s", err, out)
	}
	made, err := filepath.Glob(filepath.Join(dist, "*.deb"))
	if err != nil || len(made) != 1 {
		t.Fatalf("it made %v (%v)", made, err)
	}
	return made[0]
}

// output returns what a command prints; it must succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

func TestDebianPackageIsWhole(t *testing.T) {
	deb := debian(t)
	version, err := os.ReadFile(filepath.Join(root, "internal", "version", "number.txt"))
	if err != nil {
		t.Fatal(err)
	}
	field := func(name string) string {
		return strings.TrimSpace(output(t, exec.CommandContext(t.Context(), "dpkg-deb", "--field", deb, name)))
	}
	want := strings.Replace(strings.TrimSpace(string(version)), "-", "~", 1)
	if got := field("Version"); got != want {
		t.Errorf("its version is %q, not %q", got, want)
	}
	// What tools/setup installs to run a box is what the package needs.
	needs, fetches := field("Depends"), field("Recommends")
	rows := 0
	setup, err := os.ReadFile(filepath.Join(root, "tools", "setup.table"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(setup)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || strings.TrimSpace(cells[0]) != "run" {
			continue
		}
		rows++
		alternatives := strings.Join(strings.Fields(cells[2]), " | ")
		of := needs
		if alternatives == "npm" || alternatives == "python3-pip" {
			of = fetches
		}
		if !strings.Contains(", "+of+",", ", "+alternatives+",") {
			t.Errorf("tools/setup.table has %q for run; the package has %q", alternatives, of)
		}
	}
	if rows == 0 {
		t.Error("tools/setup.table has no rows for run")
	}
	if !strings.Contains(needs, "libopus0") || !regexp.MustCompile(`libc6 \(>= 2\.\d+\)`).MatchString(needs) {
		t.Errorf("the libraries that the program is linked with are missing: %s", needs)
	}
	contents := output(t, exec.CommandContext(t.Context(), "dpkg-deb", "--contents", deb))
	for _, file := range []string{
		"-rwxr-xr-x root/root usr/bin/parley", "-rw-r--r-- root/root usr/lib/systemd/system/parley.service",
		"-rw-r--r-- root/root usr/share/man/man1/parley.1.gz", "-rw-r--r-- root/root usr/share/parley/parley.yaml",
		"-rw-r--r-- root/root usr/share/bash-completion/completions/parley",
		"-rw-r--r-- root/root usr/share/zsh/vendor-completions/_parley",
		"-rw-r--r-- root/root usr/share/fish/vendor_completions.d/parley.fish",
	} {
		rights, name, _ := strings.Cut(file, " root/root ")
		line := regexp.MustCompile(`(?m)^` + rights + ` root/root .* \./` + regexp.QuoteMeta(name) + `$`)
		if !line.MatchString(contents) {
			t.Errorf("it has no %s", file)
		}
	}
	lint := exec.CommandContext(t.Context(), "lintian", "--allow-root", "--fail-on", "error,warning", deb)
	if found := output(t, lint); strings.Contains(found, "W: ") || strings.Contains(found, "E: ") {
		t.Errorf("lintian: %s", found)
	}
}

// 3 of 10 is what the box needs: devices for kiosks, the network, and executable memory.
func TestServiceIsConfined(t *testing.T) {
	unit := filepath.Join(root, "firmware", "deb", "parley.service")
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=30", unit)
	output(t, cmd)
}
