package registry

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

	"parley/plugins/sandbox"
)

// refused checks that a plugin is refused with an ErrUnusable that contains words.
func refused(t *testing.T, from, tag, words string) {
	t.Helper()
	_, err := Read(from, tag)
	if _, ok := errors.AsType[ErrUnusable](err); !ok || !strings.Contains(err.Error(), words) {
		t.Errorf("%s: got %v, want %q", from, err, words)
	}
}

func TestNoFileOutsideThePluginsFolderIsRead(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.sig")
	must(t, os.WriteFile(secret, empty, 0o600))
	for name, c := range map[string]struct {
		change func(file string) error
		words  string
	}{
		"a signature that is a link out": {func(file string) error {
			return os.Symlink(secret, file+SignatureSuffix)
		}, "path escapes"},
		"a signature that is a pipe": {func(file string) error {
			return unix.Mkfifo(file+SignatureSuffix, 0o600)
		}, "not a regular file"},
		"a bad signature": {func(file string) error {
			return os.WriteFile(file+SignatureSuffix, []byte("hello"), 0o600)
		}, "signature"},
		"a huge signature": {func(file string) error {
			return os.WriteFile(file+SignatureSuffix, make([]byte, 1<<20), 0o600)
		}, "is too large"},
		"a module that is a pipe": {func(file string) error {
			return errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600))
		}, "neither a file nor a folder"},
		"a module that is not there": {os.Remove, "no such file"},
		"a huge module":              {func(file string) error { return os.Truncate(file, 10<<30) }, "is too large"},
		"a module cut off": {func(file string) error {
			return os.Truncate(file, int64(len(empty)-3))
		}, "truncated"},
		"no module at all": {func(file string) error {
			return os.WriteFile(file, []byte("#!/bin/sh"), 0o600)
		}, "neither a module"},
	} {
		file := fileOf(t, described("1.0.0"), empty)
		must(t, c.change(file))
		t.Run(name, func(t *testing.T) { refused(t, file, "", c.words) })
	}
}

// A plugin is one file. The error for another form says how to make that file.
func TestErrorsAboutOtherFormsSayHowToMakeTheFile(t *testing.T) {
	dir := t.TempDir()
	bare, yaml := filepath.Join(dir, "tool.wasm"), filepath.Join(dir, "plugin.yaml")
	must(t, errors.Join(os.WriteFile(bare, empty, 0o600), os.WriteFile(yaml, []byte(described("1.0.0")), 0o600)))
	packed := filepath.Join(t.TempDir(), "folder.tar")
	must(t, os.WriteFile(packed, tarOf(t, map[string][]byte{"tool.wasm": empty, "plugin.yaml": nil}), 0o600))
	for _, from := range []string{dir, bare, yaml, packed} {
		refused(t, from, "", "parley plugin build")
		if _, err := ReadUnsigned(from); err == nil {
			t.Errorf("%s could be signed", from)
		}
	}
}

func TestAPluginThatCannotBeRunIsRefused(t *testing.T) {
	s := box(t, t.TempDir())
	for words, wasm := range map[string]string{
		"does not export": "\x00asm\x01\x00\x00\x00", // nothing in it
		"imports env.system": "\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x02\x0e\x01\x03env\x06system\x00\x00" +
			"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x01\x0a\x04\x01\x02\x00\x0b",
		"not a valid module": string(empty[:len(empty)-1]) + "\xff",
	} {
		p, err := newPackage(packed(t, described("1.0.0"), []byte(wasm)), nil)
		must(t, err)
		_, err = s.Examine(t.Context(), p)
		if _, ok := errors.AsType[ErrUnusable](err); !ok || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
}

// ociFiles returns the files of a plugin's OCI layout, by name.
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
	private, key := keys(t)
	file := fileOf(t, described("1.0.0"), empty)
	sign(t, file, private)
	wasm, err := os.ReadFile(file)
	must(t, err)
	signature, err := os.ReadFile(file + SignatureSuffix)
	must(t, err)
	files := ociFiles(t, map[string]string{"tool.wasm": string(wasm), "tool.wasm.sig": string(signature),
		"README.md": "hello"}, nil)
	text := tarOf(t, files, tar.Header{Name: "../../etc/passwd", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		tar.Header{Name: "/dev/sda", Typeflag: tar.TypeBlock})
	var small bytes.Buffer
	z := gzip.NewWriter(&small)
	_, err = z.Write(text)
	must(t, errors.Join(err, z.Close()))
	plain, zipped := filepath.Join(t.TempDir(), "a.tar"), filepath.Join(t.TempDir(), "a.tar.gz")
	must(t, errors.Join(os.WriteFile(plain, text, 0o600), os.WriteFile(zipped, small.Bytes(), 0o600)))
	want := ""
	for _, from := range []string{file, writeAll(t, files), plain, zipped} {
		p, err := Read(from, "")
		must(t, err)
		if p.Manifest.Name != "tool" || !bytes.Equal(p.Wasm, wasm) || len(p.Tests) != 1 || p.Signer() != key {
			t.Errorf("%s: %s with %d bytes and %d cases by %s", from, p.Manifest.Name, len(p.Wasm), len(p.Tests),
				p.Signer())
		}
		if want == "" {
			want = p.Digest()
		}
		if p.Digest() != want {
			t.Errorf("%s: the digest differs", from)
		}
	}
	refused(t, plain, "2.0.0", `the tags are "1.0.0"`)
	if _, err := Read(plain, "1.0.0"); err != nil {
		t.Error(err)
	}
}

func TestAMalformedOCILayoutIsRefused(t *testing.T) {
	module := packed(t, described("1.0.0"), empty)
	good := map[string]string{"tool.wasm": string(module)}
	private, _ := keys(t)
	other, err := newPackage(packed(t, described("1.0.1"), empty), nil)
	must(t, err)
	theirs := Sign(other, private)
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
		"unknown digest (\"sha256":   ociFiles(t, good, set("tool.wasm", "digest", "sha256:../../../../etc/passwd")),
		"unknown digest (\"md5":      ociFiles(t, good, set("tool.wasm", "digest", "md5:00")),
		"the layout is incomplete":   ociFiles(t, good, set("tool.wasm", "digest", "sha256:"+strings.Repeat("0", 64))),
		"does not match its digest":  ociFiles(t, good, set("tool.wasm", "size", len(module)+1)),
		"is too large":               ociFiles(t, good, set("tool.wasm", "size", int64(sandbox.MaxModule)+1)),
		`"plugin.yaml" besides the`:  ociFiles(t, with("plugin.yaml", described("1.0.0")), nil),
		`"tests/one.json" besides`:   ociFiles(t, with("tests/one.json", "{}"), nil),
		"does not match these files": ociFiles(t, with("tool.wasm.sig", string(theirs)), nil),
		"two modules":                ociFiles(t, with("other.wasm", string(empty)+"\x00\x02\x01x"), nil),
		"none of the artifact's":     ociFiles(t, map[string]string{"README.md": "hello"}, nil),
		"has no manifest":            ociFiles(t, map[string]string{"tool.wasm": string(empty)}, nil),
		"not an OCI index":           {layoutIndex: []byte(`[`)},
	} {
		t.Run(words, func(t *testing.T) {
			refused(t, writeAll(t, files), "", words)
			file := filepath.Join(t.TempDir(), "x.tar")
			must(t, os.WriteFile(file, tarOf(t, files), 0o600))
			refused(t, file, "", words)
		})
	}
	dir := writeAll(t, ociFiles(t, good, nil))
	blob := filepath.Join(dir, "blobs", "sha256", fmt.Sprintf("%x", sha256.Sum256(module)))
	outside := filepath.Join(t.TempDir(), "module")
	must(t, errors.Join(os.WriteFile(outside, module, 0o600), os.Remove(blob), os.Symlink(outside, blob)))
	refused(t, dir, "", "path escapes")
}

func TestMalformedTarsAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	for words, text := range map[string][]byte{
		"fewer than 4 bytes":      []byte("ab"),
		"neither a module":        bytes.Repeat([]byte("hello "), 1000),
		"module (which begins":    append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, "nonsense"...),
		"nor an OCI layout":       tarOf(t, map[string][]byte{"a": nil}),
		"what is packed in":       bomb(t),
		"the tar file is damaged": tarOf(t, map[string][]byte{"index.json": make([]byte, 600)})[:700],
	} {
		must(t, os.WriteFile(file, text, 0o600))
		t.Run(words, func(t *testing.T) { refused(t, file, "", words) })
	}
}

// bomb returns a small gzip file that unpacks to more than allowed.
func bomb(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	w := tar.NewWriter(z)
	must(t, w.WriteHeader(&tar.Header{Name: layoutIndex, Size: maxUnpacked, Mode: 0o600}))
	zeros := make([]byte, 1<<20)
	for range maxUnpacked >> 20 {
		_, err := w.Write(zeros)
		must(t, err)
	}
	must(t, errors.Join(w.Close(), z.Close()))
	return b.Bytes()
}
