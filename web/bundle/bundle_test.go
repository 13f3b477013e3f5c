package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The pages in the binary are those of their sources, and their messages those
// of the description.
func TestWhatIsKeptIsWhatTheSourcesMake(t *testing.T) {
	files, err := pages("..")
	if err != nil {
		t.Fatal(err)
	}
	asyncAPI, err := os.ReadFile("../" + description)
	if err != nil {
		t.Fatal(err)
	}
	types, err := wireTypes(asyncAPI)
	if err != nil {
		t.Fatal(err)
	}
	files["../wire.ts"] = types
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../dist", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its source makes (%v): go generate ./web", name, err)
		}
	}
}

// A kiosk's tablet loads the page over a slow network too.
func TestThePagesAreSmall(t *testing.T) {
	files, err := pages("..")
	if err != nil {
		t.Fatal(err)
	}
	if size := len(files["kiosk.js"]); size > 150<<10 {
		t.Errorf("the script of the kiosk has %d bytes, and 150 KiB are the most", size)
	}
}
