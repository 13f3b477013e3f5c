package packs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const voiceJSON = `{"audio":{"sample_rate":22050},"phoneme_id_map":{"a":[1]}}`

// someFiles writes files with these contents and returns their paths by name.
func someFiles(t *testing.T, contents map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	paths := map[string]string{}
	for name, text := range contents {
		paths[name] = filepath.Join(dir, name)
		if err := os.WriteFile(paths[name], []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func TestCustomModelIsIdentifiedByItsContents(t *testing.T) {
	f := someFiles(t, map[string]string{
		"model.bin": "GGUF....", "v.onnx": "\x08\x07\x12\x07pytorch", "v.onnx.json": voiceJSON,
		"other.json": `{"a":1}`, "broken.json": "{", "notes.txt": "hello", "empty.onnx": "",
		"w.onnx": "\x08\x07\x12\x07pytorch",
	})
	for _, c := range []struct {
		files string
		kind  Kind
		err   string
	}{
		{"model.bin", LanguageModel, ""},
		{"v.onnx v.onnx.json", Voice, ""},
		{"v.onnx.json v.onnx", Voice, ""},
		{"v.onnx", "", "name its JSON file"},
		{"v.onnx.json", "", "name its ONNX file too"},
		{"v.onnx w.onnx", "", "are both"},
		{"model.bin v.onnx", "", "name one GGUF file"},
		{"other.json", "", "no phoneme_id_map"},
		{"broken.json", "", "is not JSON"},
		{"notes.txt", "", "neither a GGUF model nor"},
		{"empty.onnx", "", "neither a GGUF model nor"},
		{"absent", "", "no such file"},
		{".", "", "is not a file"},
	} {
		var paths []string
		for _, name := range strings.Fields(c.files) {
			path, ok := f[name]
			if !ok {
				path = filepath.Join(t.TempDir(), name)
			}
			paths = append(paths, path)
		}
		dir := t.TempDir()
		p, err := Add(t.Context(), dir, paths, "mine", loads)
		if c.err == "" && (err != nil || p.Kind != c.kind) ||
			c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: got %s, %v; want %s, %q", c.files, p.Kind, err, c.kind, c.err)
		}
		if c.err == "" {
			wantStatus(t, dir, p, true, Ready)
		}
	}
}

func TestModelThatDoesNotLoadIsNotAdded(t *testing.T) {
	f := someFiles(t, map[string]string{"m.gguf": "GGUFxx"})
	dir := t.TempDir()
	var checked string
	_, err := Add(t.Context(), dir, []string{f["m.gguf"]}, "mine",
		func(_ context.Context, k Kind, folder string) error {
			text, err := os.ReadFile(filepath.Join(folder, "model.gguf"))
			checked = string(k) + " " + string(text)
			return errors.Join(err, errors.New("unknown architecture"))
		})
	if err == nil || !strings.Contains(err.Error(), "m.gguf cannot be used: unknown architecture") {
		t.Errorf("got %v", err)
	}
	if checked != "language-model GGUFxx" {
		t.Errorf("check was asked about %q", checked)
	}
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestInvalidCustomNamesAreRefused(t *testing.T) {
	f := someFiles(t, map[string]string{"m.gguf": "GGUFxx"})
	for name, want := range map[string]string{
		"a": "", "my-model-2": "", strings.Repeat("a", 40): "",
		"": "1 to 40", strings.Repeat("a", 41): "1 to 40", "My": "1 to 40", "a/b": "1 to 40", "..": "1 to 40",
		"-a": "1 to 40", "a b": "1 to 40",
		"voice-joe": "comes with Parley", "kokoro": "comes with Parley",
	} {
		_, err := Add(t.Context(), t.TempDir(), []string{f["m.gguf"]}, name, loads)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", name, err, want)
		}
	}
}

func TestCustomPackIsFoundCheckedAndRemoved(t *testing.T) {
	dir := t.TempDir()
	p := ownModel(t, dir, "mine", "abc")
	found, err := Find(dir, "mine")
	if err != nil || len(found) != 1 || !found[0].Custom {
		t.Fatalf("got %+v, %v", found, err)
	}
	flip(t, filepath.Join(dir, "mine", "model.gguf"), 5)
	if s := wantStatus(t, dir, p, true, Damaged); !strings.HasPrefix(s.Mend, "parley packs remove mine") {
		t.Errorf("mended by %q", s.Mend)
	}
	if err := Pull(t.Context(), dir, []Pack{p}, nil); err == nil {
		t.Error("a custom pack was pulled from nowhere")
	}
	if _, err := Add(t.Context(), dir, []string{filepath.Join(dir, "mine", "model.gguf")}, "mine", loads); err == nil {
		t.Error("it replaced itself")
	}
	if err := Remove(dir, p); err != nil {
		t.Fatal(err)
	}
	if err := Remove(dir, p); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("removed twice: %v", err)
	}
	if left := tree(t, dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
