package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages fails a test where what the pages are made of is not there.
func packages(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../node_modules"); err != nil {
		t.Fatal("what the pages are made of is not there: run tools/web/install, as make test does")
	}
}

// The pages in the binary are those of their sources, and their messages those
// of the description.
func TestWhatIsKeptIsWhatTheSourcesMake(t *testing.T) {
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

// The bundler takes types away without reading them.
func TestTheTypesOfThePagesHold(t *testing.T) {
	packages(t)
	out, err := exec.CommandContext(t.Context(), "../node_modules/.bin/tsc", "--noEmit", "-p", "..").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// A kiosk's tablet loads the page over a slow network too, and so does a phone the
// console.
func TestThePagesAreSmall(t *testing.T) {
	for name, most := range map[string]int64{"kiosk.js": 150 << 10, "console.js": 160 << 10, "plots.js": 56 << 10} {
		info, err := os.Stat("../dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > most {
			t.Errorf("%s has %d bytes, and %d are the most", name, info.Size(), most)
		}
	}
}
