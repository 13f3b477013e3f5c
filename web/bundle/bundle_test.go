package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages fails the test when the npm packages are not installed.
func packages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../node_modules"); err != nil {
		t.Fatal("the npm packages of the pages are missing: run tools/web/install, as make test does")
	}
}

// dist and the generated types must be up to date with their sources.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	packages(t)
	files, err := pages("..")
	if err != nil {
		t.Fatal(err)
	}
	made, err := types("..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range made {
		files["../"+name] = text
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../dist", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source makes (%v): go generate ./web", name, err)
		}
	}
}

// The bundler strips types without checking them.
func TestThePagesTypeCheck(t *testing.T) {
	packages(t)
	out, err := exec.CommandContext(t.Context(), "../node_modules/.bin/tsc", "--noEmit", "-p", "..").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Tablets and phones load the pages over slow networks too.
func TestThePagesAreSmall(t *testing.T) {
	for _, one := range []struct {
		names []string // loaded together
		most  int64
	}{
		{[]string{"kiosk.js"}, 150 << 10},
		{[]string{"console.js", "shared.js"}, 196 << 10},
		{[]string{"plots.js"}, 56 << 10},
		{[]string{"answers.js"}, 40 << 10},
		{[]string{"expression.js"}, 40 << 10},
		{[]string{"fleet.js"}, 40 << 10},
	} {
		var size int64
		for _, name := range one.names {
			info, err := os.Stat("../dist/" + name)
			if err != nil {
				t.Fatal(err)
			}
			size += info.Size()
		}
		if size > one.most {
			t.Errorf("%v have %d bytes, and %d are the most", one.names, size, one.most)
		}
	}
}
