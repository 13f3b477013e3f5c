package packs

import (
	"testing"

	"parley/internal/bundle"
)

// What is made with a pack is made again when a file has changed, but not when a pack was only checked again.
func TestDigestIsOfTheContent(t *testing.T) {
	digest := func(name, sum string, modified int64) string {
		t.Helper()
		dir := t.TempDir()
		f := recordFile{bundle.File{Name: name, Bytes: 3, SHA256: sum}, modified}
		if err := (record{Name: "voice-joe", Files: []recordFile{f}}).write(dir); err != nil {
			t.Fatal(err)
		}
		return Digest(dir)
	}
	one := digest("voice.onnx", "aa", 1)
	if one == "" || one != digest("voice.onnx", "aa", 2) {
		t.Errorf("%q, and another one after a check", one)
	}
	if one == digest("voice.onnx", "ab", 1) || one == digest("voice.json", "aa", 1) {
		t.Error("another content has the same digest")
	}
	if got := Digest(t.TempDir()); got != "" {
		t.Errorf("a folder without a record has the digest %q", got)
	}
}
