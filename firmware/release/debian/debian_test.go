package debian

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), mode))
}

func TestSourcesNameTheOtherRelease(t *testing.T) {
	etc, out := t.TempDir(), t.TempDir()
	put(t, filepath.Join(etc, "os-release"), "ID=debian\nVERSION_CODENAME=\"bookworm\"\n", 0o644)
	if err := writeSources(etc, "trixie", out); err == nil || !strings.Contains(err.Error(), "names a source") {
		t.Errorf("without sources: %v", err)
	}
	put(t, filepath.Join(etc, "apt/sources.list.d/debian.sources"), "Suites: bookworm bookworm-updates\n", 0o644)
	put(t, filepath.Join(etc, "apt/sources.list.d/other.list"), "deb x bookworm main\n", 0o644)
	must(t, writeSources(etc, "trixie", out))
	text, err := os.ReadFile(filepath.Join(out, "debian.sources"))
	if err != nil || string(text) != "Suites: trixie trixie-updates\n" {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(out); err != nil || len(left) != 1 {
		t.Errorf("the sources of others are taken too: %v, %v", left, err)
	}
	put(t, filepath.Join(etc, "os-release"), "ID=ubuntu\nVERSION_CODENAME=noble\n", 0o644)
	if err := writeSources(etc, "trixie", out); err == nil || !strings.Contains(err.Error(), "only a Debian") {
		t.Errorf("on another system: %v", err)
	}
}

// fakeApt is an apt-get that has two packages. It downloads them into the folder of the
// option Dir::Cache::archives.
const fakeApt = `#!/bin/sh
for o; do case $o in Dir::Cache::archives=*) archives=${o#*=} ;; esac; done
case "$*" in
*--print-uris*)
	echo 'Reading package lists...'
	echo "'http://d.example/pool/b/b_2%%2b1_amd64.deb' b_1%%3a2+1_amd64.deb 1 SHA256:%x"
	echo "'http://d.example/pool/a/a_1_all.deb' a_1_all.deb 1 SHA256:%x"
	echo "'file:/x/box.deb' box.deb 1 SHA256:00" ;;
*--download-only*)
	[ ! -e "$HANG" ] || exec sleep 600
	printf a >"$archives/a_1_all.deb"
	printf "${B:-b}" >"$archives/b_1%%3a2+1_amd64.deb" ;;
esac
`

func withFakeApt(t *testing.T) (cache string) {
	t.Helper()
	if suiteOf("/etc/os-release") == "" {
		t.Skip("needs a Debian, whose sources it reads")
	}
	bin := t.TempDir()
	put(t, filepath.Join(bin, "apt-get"), fmt.Sprintf(fakeApt, sha256.Sum256([]byte("b")), sha256.Sum256([]byte("a"))),
		0o755)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return t.TempDir()
}

var machine = Machine{Suite: "trixie", Arch: "amd64"}

func TestPackagesAreCheckedAndHaveTheNamesOfTheirArchive(t *testing.T) {
	cache := withFakeApt(t)
	archives := filepath.Join(cache, "trixie-amd64/archives")
	put(t, filepath.Join(archives, "old_1_all.deb"), "old", 0o644)
	debs, err := Fetch(t.Context(), "box.deb", machine, cache, nil)
	if err != nil || len(debs) != 2 || debs[0].Name != "a_1_all.deb" || debs[1].Name != "b_2+1_amd64.deb" {
		t.Errorf("%v, %v", debs, err)
	}
	if _, err := os.Stat(filepath.Join(archives, "old_1_all.deb")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an old package stays in the cache: %v", err)
	}
	t.Setenv("B", "c")
	if _, err := Fetch(t.Context(), "box.deb", machine, cache, nil); err == nil ||
		!strings.Contains(err.Error(), "is damaged and was deleted") {
		t.Errorf("a damaged package: %v", err)
	}
}

func TestFetchEndsWithItsContext(t *testing.T) {
	cache := withFakeApt(t)
	hang := filepath.Join(t.TempDir(), "hang")
	put(t, hang, "", 0o644)
	t.Setenv("HANG", hang)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begun := time.Now()
	if _, err := Fetch(ctx, "box.deb", machine, cache, nil); !errors.Is(err, context.DeadlineExceeded) ||
		time.Since(begun) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

func TestIndexDescribesPackages(t *testing.T) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("needs dpkg-deb")
	}
	tree := t.TempDir()
	put(t, filepath.Join(tree, "DEBIAN/control"), "Package: tiny\nVersion: 1:2-3\nArchitecture: all\n"+
		"Maintainer: nobody\nDescription: a test\n with a second line\n", 0o644)
	must(t, os.Chmod(tree, 0o755)) // dpkg-deb refuses others
	deb := filepath.Join(t.TempDir(), "tiny.deb")
	cmd := exec.CommandContext(t.Context(), "dpkg-deb", "--root-owner-group", "-b", tree, deb)
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	control, err := ReadControl(t.Context(), deb)
	if err != nil || control.Version != "1:2-3" || control.Made.Unix() != 1_700_000_000 {
		t.Errorf("%+v, %v", control, err)
	}
	index, err := Index(t.Context(), []Deb{{"debian/tiny_2-3_all.deb", deb}})
	must(t, err)
	text, err := os.ReadFile(deb)
	must(t, err)
	want := fmt.Sprintf("Filename: debian/tiny_2-3_all.deb\nSize: %d\nSHA256: %x\n\n", len(text), sha256.Sum256(text))
	if !strings.HasPrefix(string(index), "Package: tiny\n") || !strings.HasSuffix(string(index),
		"\n with a second line\n"+want) {
		t.Errorf("%s", index)
	}
	if _, err := ReadControl(t.Context(), filepath.Join(tree, "DEBIAN/control")); err == nil ||
		!strings.Contains(err.Error(), "is not a Debian package") {
		t.Errorf("another file: %v", err)
	}
}
