package shelf

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// refused tells that a plugin is refused, with words, and that the error is of
// the kind that says so.
func refused(t *testing.T, from, tag, words string) {
	t.Helper()
	_, err := Read(from, tag)
	if _, ok := errors.AsType[ErrUnusable](err); !ok || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want %q", from, err, words)
	}
}

func TestNothingOutsideItsFolderIsRead(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, empty, 0o600))
	for name, c := range map[string]struct {
		change func(dir string) error
		words  string
	}{
		"a module that is a link out": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "tool.wasm")),
				os.Symlink(secret, filepath.Join(dir, "tool.wasm")))
		}, "path escapes"},
		"a manifest that is a link out": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, manifestName)),
				os.Symlink(secret, filepath.Join(dir, manifestName)))
		}, "path escapes"},
		"cases that lie elsewhere": {func(dir string) error {
			return os.Symlink(filepath.Dir(secret), filepath.Join(dir, testsFolder))
		}, "path escapes"},
		"a module that is a pipe": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "tool.wasm")),
				unix.Mkfifo(filepath.Join(dir, "tool.wasm"), 0o600))
		}, "no plain file"},
		"a module that is a folder": {func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "tool.wasm")),
				os.Mkdir(filepath.Join(dir, "tool.wasm"), 0o700))
		}, "no plain file"},
		"a module elsewhere": {func(dir string) error {
			text := strings.Replace(described("1"), "tool.wasm", "../"+filepath.Base(secret), 1)
			return os.WriteFile(filepath.Join(dir, manifestName), []byte(text), 0o600)
		}, "not the name of a file beside"},
		"a module with a whole path": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, manifestName),
				[]byte(strings.Replace(described("1"), "tool.wasm", secret, 1)), 0o600)
		}, "not the name of a file beside"},
		"a module that is not there": {func(dir string) error {
			return os.Remove(filepath.Join(dir, "tool.wasm"))
		}, "build the plugin first"},
		"no manifest": {func(dir string) error {
			return os.Remove(filepath.Join(dir, manifestName))
		}, "neither a plugin.yaml nor"},
		"a huge manifest": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, manifestName), manifest.MaxBytes+1)
		}, "more than"},
		"a huge module": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, "tool.wasm"), 10<<30)
		}, "more than"},
		"a module cut off": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, "tool.wasm"), int64(len(empty)-3))
		}, "truncated"},
		"no module at all": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "tool.wasm"), []byte("#!/bin/sh"), 0o600)
		}, "not a WebAssembly module"},
		"a bad signature": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, signatureName), []byte("hello"), 0o600)
		}, "signature"},
		"a case with a strange name": {func(dir string) error {
			return errors.Join(os.Mkdir(filepath.Join(dir, testsFolder), 0o700),
				os.WriteFile(filepath.Join(dir, testsFolder, "a\nb.json"), nil, 0o600))
		}, "no name of a case"},
	} {
		dir := folderOf(t, described("1.0.0"), empty)
		must(t, c.change(dir))
		t.Run(name, func(t *testing.T) { refused(t, dir, "", c.words) })
	}
}

func TestAManifestThatLiesAboutItsModuleIsRefused(t *testing.T) {
	inside, err := manifest.Embed(empty, []byte(strings.ReplaceAll(described("1.0.0"), "Does", "Did")))
	must(t, err)
	refused(t, folderOf(t, described("1.0.0"), inside), "", "say different things")
	s := box(t, t.TempDir())
	for words, wasm := range map[string]string{
		"does not export": "\x00asm\x01\x00\x00\x00", // nothing in it
		"imports env.system": "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x02\x0e\x01\x03env\x06system\x00\x00" +
			"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x01\x0a\x04\x01\x02\x00\x0b",
		"not a valid module": string(empty[:len(empty)-1]) + "\xff",
	} {
		p, err := Read(folderOf(t, described("1.0.0"), []byte(wasm)), "")
		must(t, err)
		_, err = s.Examine(t.Context(), p)
		if _, ok := errors.AsType[ErrUnusable](err); !ok || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
}

// ociFiles are the files of an OCI layout of a plugin, by name.
func ociFiles(t *testing.T, layers map[string]string, change func(name string, d map[string]any)) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	put := func(name string, text []byte, kind string) map[string]any {
		sum := fmt.Sprintf("%x", sha256.Sum256(text))
		files["blobs/sha256/"+sum] = text
		d := map[string]any{"mediaType": kind, "digest": "sha256:" + sum, "size": len(text),
			"annotations": map[string]string{annotationTitle: name}}
		if change != nil {
			change(name, d)
		}
		return d
	}
	write := func(v any) []byte {
		text, err := json.Marshal(v)
		must(t, err)
		return text
	}
	var all []map[string]any
	for name, text := range layers {
		kind := "application/octet-stream"
		if strings.HasSuffix(name, ".wasm") {
			kind = "application/wasm"
		}
		all = append(all, put(name, []byte(text), kind))
	}
	image := put("", write(map[string]any{"schemaVersion": 2, "layers": all}),
		"application/vnd.oci.image.manifest.v1+json")
	image["annotations"] = map[string]string{annotationTag: "1.0.0"}
	files["oci-layout"] = []byte(`{"imageLayoutVersion":"1.0.0"}`)
	files[layoutIndex] = write(map[string]any{"schemaVersion": 2, "manifests": []any{image}})
	return files
}

func writeAll(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, text, 0o600)))
	}
	return dir
}

func tarOf(t *testing.T, files map[string][]byte, more ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		must(t, w.WriteHeader(&tar.Header{Name: "./" + name, Size: int64(len(text)), Mode: 0o600}))
		_, err := w.Write(text)
		must(t, err)
	}
	for _, h := range more {
		must(t, w.WriteHeader(&h))
	}
	must(t, w.Close())
	return b.Bytes()
}

func TestAnOCILayoutIsReadAsAFolderOrATar(t *testing.T) {
	layers := map[string]string{"tool.wasm": string(empty), manifestName: described("1.0.0"), "tests/one.json": `{}`,
		"README.md": "hello"}
	files := ociFiles(t, layers, nil)
	text := tarOf(t, files, tar.Header{Name: "../../etc/passwd", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		tar.Header{Name: "/dev/sda", Typeflag: tar.TypeBlock})
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(text)
	must(t, errors.Join(err, z.Close()))
	plain, small := filepath.Join(t.TempDir(), "a.tar"), filepath.Join(t.TempDir(), "a.tar.gz")
	must(t, errors.Join(os.WriteFile(plain, text, 0o600), os.WriteFile(small, packed.Bytes(), 0o600)))
	want := ""
	for _, from := range []string{folderOfPlugin(t), writeAll(t, files), plain, small} {
		p, err := Read(from, "")
		must(t, err)
		if p.Manifest.Name != "tool" || !bytes.Equal(p.Wasm, empty) || len(p.Tests) != 1 {
			t.Errorf("%s: %s with %d bytes and %d cases", from, p.Manifest.Name, len(p.Wasm), len(p.Tests))
		}
		if want == "" {
			want = p.Digest()
		}
		if p.Digest() != want {
			t.Errorf("%s: from there it is another plugin", from)
		}
	}
	refused(t, plain, "2.0.0", `its tags: "1.0.0"`)
	if _, err := Read(plain, "1.0.0"); err != nil {
		t.Error(err)
	}
}

// folderOfPlugin is the same plugin as a folder.
func folderOfPlugin(t *testing.T) string {
	t.Helper()
	dir := folderOf(t, described("1.0.0"), empty)
	must(t, errors.Join(os.Mkdir(filepath.Join(dir, testsFolder), 0o700),
		os.WriteFile(filepath.Join(dir, testsFolder, "one.json"), []byte(`{}`), 0o600)))
	return dir
}

func TestAnOCILayoutThatLiesIsRefused(t *testing.T) {
	good := map[string]string{"tool.wasm": string(empty), manifestName: described("1.0.0")}
	with := func(name, text string) map[string]string {
		all := map[string]string{name: text}
		for n, t := range good {
			all[n] = t
		}
		return all
	}
	set := func(of, key string, value any) func(string, map[string]any) {
		return func(name string, d map[string]any) {
			if name == of {
				d[key] = value
			}
		}
	}
	for words, files := range map[string]map[string][]byte{
		"is no digest":               ociFiles(t, good, set("tool.wasm", "digest", "sha256:../../../../etc/passwd")),
		"is no digest that is known": ociFiles(t, good, set("tool.wasm", "digest", "md5:00")),
		"has no blob":                ociFiles(t, good, set("tool.wasm", "digest", "sha256:"+strings.Repeat("0", 64))),
		"not what its digest":        ociFiles(t, good, set("tool.wasm", "size", len(empty)+1)),
		"is said to have":            ociFiles(t, good, set("tool.wasm", "size", -1)),
		"which is the most":          ociFiles(t, good, set("tool.wasm", "size", int64(sandbox.MaxModule)+1)),
		"no name of a case":          ociFiles(t, with("tests/../../../../root/.profile.json", "{}"), nil),
		"two modules":                ociFiles(t, with("other.wasm", string(empty)+"\x00\x02\x01x"), nil),
		"none of the artifact's":     ociFiles(t, map[string]string{manifestName: described("1.0.0")}, nil),
		"carries no manifest":        ociFiles(t, map[string]string{"tool.wasm": string(empty)}, nil),
		"not JSON":                   {layoutIndex: []byte(`[`)},
	} {
		t.Run(words, func(t *testing.T) {
			refused(t, writeAll(t, files), "", words)
			file := filepath.Join(t.TempDir(), "x.tar")
			must(t, os.WriteFile(file, tarOf(t, files), 0o600))
			refused(t, file, "", words)
		})
	}
	dir := writeAll(t, ociFiles(t, good, nil))
	blob := filepath.Join(dir, "blobs", "sha256", fmt.Sprintf("%x", sha256.Sum256(empty)))
	outside := filepath.Join(t.TempDir(), "module")
	must(t, errors.Join(os.WriteFile(outside, empty, 0o600), os.Remove(blob), os.Symlink(outside, blob)))
	refused(t, dir, "", "path escapes")

	var self bytes.Buffer // an index that names indexes
	loop := map[string][]byte{}
	inner := []byte(`{"manifests":[]}`)
	for range 9 {
		sum := fmt.Sprintf("%x", sha256.Sum256(inner))
		loop["blobs/sha256/"+sum] = inner
		inner = fmt.Appendf(nil, `{"manifests":[{"digest":"sha256:%s","size":%d}]}`, sum, len(inner))
	}
	self.Write(inner)
	loop[layoutIndex] = self.Bytes()
	refused(t, writeAll(t, loop), "", "name one another")
}

func TestTarsThatAreNoneAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for words, text := range map[string][]byte{
		"fewer than 4 bytes": []byte("ab"),
		"neither a module":   bytes.Repeat([]byte("hello "), 1000),
		"cannot be unpacked": append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, "nonsense"...),
		"is no OCI layout":   tarOf(t, map[string][]byte{"a": nil}),
		"twice": append(bytes.TrimRight(tarOf(t, map[string][]byte{"a": []byte("1")}), "\x00"),
			append(make([]byte, 511), tarOf(t, map[string][]byte{"a": nil})...)...),
		"what is packed in":       bomb(t),
		"the tar file is damaged": tarOf(t, map[string][]byte{"index.json": make([]byte, 600)})[:700],
	} {
		must(t, os.WriteFile(file, text, 0o600))
		t.Run(words, func(t *testing.T) { refused(t, file, "", words) })
	}
}

// bomb is a small gzip file of more than may be unpacked.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	zeros := make([]byte, 1<<20)
	for range maxUnpacked>>20 + 1 {
		_, err := z.Write(zeros)
		must(t, err)
	}
	must(t, z.Close())
	return b.Bytes()
}
