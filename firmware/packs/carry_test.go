package packs

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"parley/internal/bundle"
	"parley/internal/progress"
)

// ownModel adds a small model to dir.
func ownModel(t *testing.T, dir, name, text string) Pack {
	t.Helper()
	file := filepath.Join(t.TempDir(), "some.gguf")
	if err := os.WriteFile(file, []byte("GGUF"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Add(t.Context(), dir, []string{file}, name, loads)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func loads(context.Context, Kind, string) error { return nil }

func TestExportedPacksAreImportedWhole(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	custom := ownModel(t, from, "mine", strings.Repeat("abc", 5<<20))
	espeak, _ := builtIn("espeak-ng")
	file := filepath.Join(t.TempDir(), "packs.tar.zst")
	var skipped string
	err := Export(t.Context(), from, []Pack{custom, espeak}, file, func(e progress.Event) {
		if e.Step == progress.Skipped {
			skipped = e.Note
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(skipped, "apt-get install libespeak-ng1") {
		t.Errorf("skipped is %q", skipped)
	}
	names, err := Import(t.Context(), to, file, nil)
	if err != nil || len(names) != 1 || names[0] != "mine" {
		t.Fatalf("got %v, %v", names, err)
	}
	imported := Custom(to)
	if len(imported) != 1 || imported[0].Kind != LanguageModel {
		t.Fatalf("there are %+v", imported)
	}
	wantStatus(t, to, imported[0], true, Ready)
	if _, err := Import(t.Context(), to, file, nil); err != nil {
		t.Errorf("importing the same again: %v", err)
	}
}

func TestBuiltInPackIsExportedWithItsLicences(t *testing.T) {
	p, _ := builtIn("turn")
	from := packsDir(t, p)
	to, file := t.TempDir(), filepath.Join(t.TempDir(), "f")
	if err := Export(t.Context(), from, []Pack{p}, file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), to, file, nil); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, to, p, true, Ready)
	if got := tree(t, to)["turn/LICENSE"]; !strings.Contains(got, "Silero") {
		t.Errorf("its licence is %q", got)
	}
}

// packsDir returns the folder of this machine's packs, which must have p.
func packsDir(t *testing.T, p Pack) string {
	t.Helper()
	dir := os.Getenv("PARLEY_PACKS")
	if cache := os.Getenv("PARLEY_CACHE"); dir == "" && cache != "" {
		dir = filepath.Join(cache, "packs")
	}
	if dir == "" {
		dir = filepath.Join(os.Getenv("HOME"), ".cache", "parley", "packs")
	}
	if err := Require(t.Context(), dir, []Pack{p}); err != nil {
		t.Fatalf("%v; make packs fetches them all", err)
	}
	return dir
}

func TestDamagedPackIsNotExported(t *testing.T) {
	dir := t.TempDir()
	p := ownModel(t, dir, "mine", "abcdef")
	model := filepath.Join(dir, "mine", "model.gguf")
	info := mustStat(t, model)
	flip(t, model, 5)
	if err := os.Chtimes(model, info.ModTime(), info.ModTime()); err != nil { // unnoticed so far
		t.Fatal(err)
	}
	out := t.TempDir()
	err := Export(t.Context(), dir, []Pack{p}, filepath.Join(out, "f"), nil)
	if err == nil || !strings.Contains(err.Error(), "pack mine: model.gguf is damaged") {
		t.Errorf("got %v", err)
	}
	if left := tree(t, out); len(left) > 0 {
		t.Errorf("it left %q", left)
	}
}

func TestDamagedExportImportsNothingOrTheSame(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	noise := make([]byte, 100_000) // that does not compress, as models do not
	rand.NewChaCha8([32]byte{1}).Read(noise)
	a := ownModel(t, from, "a", string(noise[:60_000]))
	b := ownModel(t, from, "b", string(noise[60_000:]))
	file := filepath.Join(t.TempDir(), "f")
	if err := Export(t.Context(), from, []Pack{a, b}, file, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, n int, text []byte) {
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Import(t.Context(), to, file, nil); err != nil {
			if left := tree(t, to); len(left) > 0 {
				t.Errorf("%s %d: %v, but it left %d files", what, n, err, len(left))
			}
			return
		}
		if what == "cut off at" { // some bits of a zstd frame mean nothing, but all of its bytes are needed
			t.Errorf("cut off at %d it was taken", n)
		}
		for _, p := range []Pack{a, b} {
			wantStatus(t, to, p, true, Ready)
			if err := Remove(to, p); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := 0; n < len(whole); n += 1 + n/8 + len(whole)/300 {
		try("cut off at", n, whole[:n])
		try("cut off at", len(whole)-1-n, whole[:len(whole)-1-n])
		changed := bytes.Clone(whole)
		changed[n] ^= 0x10
		try("changed at", n, changed)
	}
	for n := range 40 { // the headers
		changed := bytes.Clone(whole)
		changed[n] ^= 0x10
		try("changed at", n, changed)
	}
}

// craft writes an export by hand.
func craft(t *testing.T, head any, members ...*tar.Header) string {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	text, err := json.Marshal(head)
	if err != nil {
		t.Fatal(err)
	}
	members = append([]*tar.Header{{Name: headerName, Size: int64(len(text)), Mode: 0o644}}, members...)
	for i, m := range members {
		body := text
		if i > 0 {
			body = bytes.Repeat([]byte("x"), int(m.Size))
		}
		if err := w.WriteHeader(m); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "crafted")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestHostileExportIsRefused(t *testing.T) {
	x := bundle.File{Name: "model.gguf", Bytes: 1, SHA256: sumOf([]byte("x"))}
	pack := func(name string, files ...bundle.File) header {
		r := record{Name: name, Kind: LanguageModel, Custom: true}
		for _, f := range files {
			r.Files = append(r.Files, recordFile{File: f})
		}
		return header{Format: exportFormat, Packs: []record{r}}
	}
	member := func(name string) *tar.Header { return &tar.Header{Name: name, Size: 1, Mode: 0o644} }
	outside := bundle.File{Name: "../../../evil", Bytes: 1, SHA256: x.SHA256}
	for name, c := range map[string]struct {
		head    any
		members []*tar.Header
		want    string
	}{
		"a file that climbs out":    {pack("m", outside), []*tar.Header{member("m/../../../evil")}, "has the files"},
		"a pack that climbs out":    {pack("../m", x), []*tar.Header{member("../m/model.gguf")}, "the name"},
		"a pack named as the stage": {pack(".stage", x), nil, "the name"},
		"an empty name":             {pack("", x), nil, "the name"},
		"another member":            {pack("m", x), []*tar.Header{member("/etc/evil")}, `"/etc/evil"`},
		"a link": {pack("m", x),
			[]*tar.Header{{Name: "m/model.gguf", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}}, "should be"},
		"one member too many": {pack("m", x), []*tar.Header{member("m/model.gguf"), member("m/evil")},
			"does not announce"},
		"one member too few": {pack("m", x), nil, "cut off"},
		"other contents": {pack("m", bundle.File{Name: "model.gguf", Bytes: 1, SHA256: sumOf([]byte("y"))}),
			[]*tar.Header{member("m/model.gguf")}, "damaged"},
		"a size below zero": {pack("m", bundle.File{Name: "model.gguf", Bytes: -1, SHA256: x.SHA256}), nil,
			"size -1"},
		"a size beyond the disk": {pack("m", bundle.File{Name: "model.gguf", Bytes: 1 << 60, SHA256: x.SHA256}), nil,
			"free some space"},
		"a forged built-in": {pack("voice-joe", x), []*tar.Header{member("voice-joe/model.gguf")},
			"not the one that this Parley uses"},
		"a system pack": {pack("espeak-ng", x), nil, "cannot be imported"},
		"another kind": {header{Format: 1, Packs: []record{{Name: "m", Kind: Runtime}}}, nil,
			"not a \"runtime\""},
		"the same pack twice": {header{Format: 1, Packs: append(pack("m", x).Packs, pack("m", x).Packs...)}, nil,
			"twice"},
		"a format of tomorrow": {header{Format: 2}, nil, "format 2"},
		"no packs":             {header{Format: 1}, nil, "no packs"},
		"no header":            {"just text", nil, "parley packs pull --export"},
	} {
		parent := t.TempDir()
		_, err := Import(t.Context(), filepath.Join(parent, "packs"), craft(t, c.head, c.members...), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
		if left := tree(t, parent); len(left) > 0 {
			t.Errorf("%s: it left %q", name, left)
		}
	}
}

func TestImportDoesNotReplaceAnotherCustomPack(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	file := filepath.Join(t.TempDir(), "f")
	if err := Export(t.Context(), from, []Pack{ownModel(t, from, "m", "one")}, file, nil); err != nil {
		t.Fatal(err)
	}
	ownModel(t, to, "m", "two")
	_, err := Import(t.Context(), to, file, nil)
	if err == nil || !strings.Contains(err.Error(), "parley packs remove m") {
		t.Errorf("got %v", err)
	}
}

// FuzzImport checks that no file makes Import panic, or change the folder without
// importing anything.
func FuzzImport(f *testing.F) {
	for _, text := range []string{"", "GGUF", headerName, `{"format":1,"packs":[]}`} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	dir := f.TempDir()
	file := filepath.Join(f.TempDir(), "f")
	f.Fuzz(func(t *testing.T, text []byte, wrap bool) {
		if wrap { // past the compression, into the tar and the header
			var out bytes.Buffer
			z, _ := zstd.NewWriter(&out)
			w := tar.NewWriter(z)
			_ = w.WriteHeader(&tar.Header{Name: headerName, Size: int64(len(text)), Mode: 0o644})
			_, _ = w.Write(text)
			_, _ = w.Close(), z.Close()
			text = out.Bytes()
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			t.Fatal(err)
		}
		names, err := Import(t.Context(), dir, file, nil)
		if left := tree(t, dir); err != nil && len(left) > 0 {
			t.Fatalf("%v, but it left %q", err, left)
		}
		if err == nil && len(names) == 0 {
			t.Fatal("it imported nothing and returned no error")
		}
	})
}
