package release

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"parley/internal/progress"
	"parley/internal/signing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// example is a manifest without files.
func example() Manifest {
	return Manifest{
		Version:    "0.1.0",
		Arch:       "amd64",
		Suite:      "bookworm",
		Schema:     19,
		MadeMS:     1_700_000_000_000,
		Commit:     "1361d876",
		Profile:    "test",
		PacksBytes: 8,
	}
}

// contents are the parts of the file of written.
var contents = []struct{ name, text string }{
	{PackageName("0.1.0", "amd64"), "the package"},
	{PacksName, strings.Repeat("packs", 300)},
	{IndexName, "Package: a\n"},
	{"debian/a_1.0-1+b1_all.deb", ""},
	{"debian/b_2~rc1_amd64.deb", strings.Repeat("b", block)},
}

func newKey(t *testing.T) (ed25519.PrivateKey, signing.Key) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	return private, signing.KeyOf(private)
}

// written writes a small release file, and returns its path.
func written(t *testing.T, key ed25519.PrivateKey) string {
	t.Helper()
	dir := t.TempDir()
	var sources []Source
	for i, c := range contents {
		path := filepath.Join(dir, string(rune('a'+i)))
		must(t, os.WriteFile(path, []byte(c.text), 0o600))
		sources = append(sources, Source{c.name, path})
	}
	file := filepath.Join(t.TempDir(), "box.sh")
	must(t, Write(t.Context(), file, example(), sources, key, nil))
	return file
}

func opened(t *testing.T, file string) *File {
	t.Helper()
	f, err := Open(file)
	must(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestWhatIsWrittenIsExtracted(t *testing.T) {
	key, public := newKey(t)
	file := written(t, key)
	f := opened(t, file)
	if f.Manifest.Version != "0.1.0" || f.Manifest.Package().Name != contents[0].name {
		t.Errorf("the manifest is %+v", f.Manifest)
	}
	if by, err := f.Verify([]signing.Key{public}); by != public || err != nil {
		t.Errorf("signed by %s, %v", by, err)
	}
	must(t, f.Check(t.Context(), nil))
	dir := t.TempDir()
	done := map[string]int64{}
	must(t, f.Extract(t.Context(), dir, nil, func(e progress.Event) { done[e.Name] = e.Done }))
	for _, c := range contents {
		text, err := os.ReadFile(filepath.Join(dir, c.name))
		if err != nil || string(text) != c.text {
			t.Errorf("%s is %q, %v", c.name, text, err)
		}
	}
	if len(done) != 1 || done["box.sh"] != f.Manifest.Bytes() {
		t.Errorf("reported %v", done)
	}
	first, err := os.ReadFile(file)
	must(t, err)
	second, err := os.ReadFile(written(t, key))
	must(t, err)
	if !bytes.Equal(first, second) {
		t.Error("the same content makes another file")
	}
}

// Each byte of the file is in the script, the manifest, the signature, a part, or fixed by
// the format: no other file passes all checks.
func TestNoByteCanBeChanged(t *testing.T) {
	key, public := newKey(t)
	file := written(t, key)
	good, err := os.ReadFile(file)
	must(t, err)
	out, err := os.OpenFile(file, os.O_WRONLY, 0)
	must(t, err)
	defer out.Close()
	for at := 0; at < len(good); at += 13 {
		if at >= 64 && at < ScriptBytes-64 {
			at += 1000 // one hash covers the script
		}
		_, err := out.WriteAt([]byte{good[at] ^ 0x20}, int64(at))
		must(t, err)
		if err := passes(t.Context(), file, public); err == nil {
			t.Fatalf("byte %d of %d was changed, and nothing noticed", at, len(good))
		}
		_, err = out.WriteAt(good[at:at+1], int64(at))
		must(t, err)
	}
	for _, size := range []int{0, 1, ScriptBytes, ScriptBytes + 100, ScriptBytes + block, len(good) - 2*block,
		len(good) - block, len(good) - 1} {
		must(t, os.WriteFile(file, good[:size], 0o600))
		if err := passes(t.Context(), file, public); err == nil {
			t.Errorf("of %d bytes %d are left, and nothing noticed", len(good), size)
		}
	}
	must(t, os.WriteFile(file, append(bytes.Clone(good), make([]byte, block)...), 0o600))
	if err := passes(t.Context(), file, public); err == nil {
		t.Error("more bytes follow, and nothing noticed")
	}
	must(t, os.WriteFile(file, good, 0o600))
	must(t, passes(t.Context(), file, public))
}

func passes(ctx context.Context, file string, key signing.Key) error {
	f, err := Open(file)
	if err != nil {
		return err
	}
	_, err = f.Verify([]signing.Key{key})
	return errors.Join(err, f.Check(ctx, nil), f.Close())
}

// patched writes the file with another manifest, as whoever forges one would: with all
// headers right, and the old signature.
func patched(t *testing.T, file string, change func(text string) string) string {
	t.Helper()
	f := opened(t, file)
	all, err := os.ReadFile(file)
	must(t, err)
	text := []byte(change(string(f.text)))
	head, err := header(manifestName, int64(len(text)))
	must(t, err)
	forged := append(bytes.Clone(all[:ScriptBytes]), head...)
	forged = append(forged, text...)
	forged = append(forged, make([]byte, padded(int64(len(text)))-int64(len(text)))...)
	forged = append(forged, all[ScriptBytes+block+padded(int64(len(f.text))):]...)
	path := filepath.Join(t.TempDir(), "forged.sh")
	must(t, os.WriteFile(path, forged, 0o600))
	return path
}

func replace(old, text string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, text, 1) }
}

func TestHostileManifestsAreRefused(t *testing.T) {
	file := written(t, nil)
	deb := contents[3].name
	for name, c := range map[string]struct {
		change func(string) string
		want   string
	}{
		"a path that leads out":  {replace(deb, "debian/../../etc/x.deb"), "is not allowed"},
		"an absolute path":       {replace(deb, "/etc/cron.d/x.deb"), "is not allowed"},
		"another file":           {replace(deb, "debian/x.sh"), "is not allowed"},
		"a name with a new line": {replace(deb, `debian/x\n.deb`), "is not allowed"},
		"a long name":            {replace(deb, "debian/"+strings.Repeat("x", 100)+".deb"), "is not allowed"},
		"the same part twice":    {replace(deb, contents[4].name), "there twice"},
		"a negative size":        {replace(`"bytes": 512`, `"bytes": -512`), "a size that is not allowed"},
		"a huge size":            {replace(`"bytes": 512`, `"bytes": 9223372036854775807`), "size that is not allowed"},
		"a part that is larger":  {replace(`"bytes": 512`, `"bytes": 1024`), "is not at its place"},
		"no index":               {replace(`"debian/Packages"`, `"debian/p.deb"`), "have no index"},
		"another format":         {replace(`"format": 1`, `"format": 2`), "format 2, and this Parley reads format 1"},
		"another layout":         {replace(`"format": 1`, `"format":  1`), "another layout"},
		"an unknown field":       {replace(`"format": 1`, "\"more\": 1,\n \"format\": 1"), "another layout"},
		"more behind it":         {func(s string) string { return s + "{}" }, "is not JSON"},
		"a version with a space": {replace(`"version": "0.1.0"`, `"version": "0.1.0 -x"`), "version"},
		"a version of two parts": {replace(`"version": "0.1.0"`, `"version": "0.1"`), "version"},
		"another package's name": {replace("parley-box_0.1.0", "parley-box_0.2.0"), "first part is not"},
		"another script":         {replace(`"bytes": 32768`, `"bytes": 32769`), "its script is not"},
		"a malformed hash":       {replace(`"sha256": "e3b0`, `"sha256": "E3B0`), "malformed"},
		"a suite with a quote":   {replace(`"bookworm"`, `"book'worm"`), "Debian release"},
		"a command as commit":    {replace(`"1361d876"`, `"$(reboot)"`), "not allowed"},
		"a huge manifest":        {func(s string) string { return s + strings.Repeat(" ", 1<<20) }, "are allowed"},
	} {
		_, err := Open(patched(t, file, c.change))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A box can be updated to a version whose release files say more.
func TestLaterVersionsMayAddFields(t *testing.T) {
	file := written(t, nil)
	f, err := Open(patched(t, file, func(s string) string {
		return strings.TrimSuffix(s, "\n}\n") + ",\n \"channel\": \"stable\"\n}\n"
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if want := opened(t, file).Manifest; !reflect.DeepEqual(f.Manifest, want) {
		t.Errorf("read %+v, want %+v", f.Manifest, want)
	}
	_, err = Open(patched(t, file, func(s string) string {
		return strings.TrimSuffix(s, "\n}\n") + ",\n \"version\": \"9.0.0\"\n}\n"
	}))
	if err == nil {
		t.Error("a second version was taken")
	}
}

func TestSignaturesOfOthersAreRefused(t *testing.T) {
	key, public := newKey(t)
	other, foreign := newKey(t)
	file := written(t, key)
	refused := func(file string, trusted []signing.Key, want error) {
		t.Helper()
		if by, err := opened(t, file).Verify(trusted); by != "" || err == nil || err.Error() != want.Error() {
			t.Errorf("verified for %q: %v, want %v", by, err, want)
		}
	}
	refused(file, nil, ErrNoKeys)
	refused(file, []signing.Key{foreign}, &ErrForeign{public})
	refused(written(t, nil), []signing.Key{public}, ErrUnsigned)
	refused(written(t, other), []signing.Key{public}, &ErrForeign{foreign})
	// The signature is genuine, and of another manifest.
	refused(patched(t, file, replace(`"schema": 19`, `"schema": 20`)), []signing.Key{public}, &ErrSignature{public})
}

func TestFileIsForOneKindOfMachine(t *testing.T) {
	m := example()
	must(t, m.Fits("amd64", "bookworm"))
	for _, c := range [][2]string{{"arm64", "bookworm"}, {"amd64", "trixie"}} {
		if unfit := (*ErrUnfit)(nil); !errors.As(m.Fits(c[0], c[1]), &unfit) {
			t.Errorf("it fits %v", c)
		}
	}
}

func TestExtractLeavesNothingAfterAnError(t *testing.T) {
	file := written(t, nil)
	f := opened(t, file)
	at := f.offset[contents[4].name]
	out, err := os.OpenFile(file, os.O_WRONLY, 0)
	must(t, err)
	_, err = out.WriteAt([]byte("x"), at)
	must(t, errors.Join(err, out.Close()))
	dir := t.TempDir()
	if err := f.Extract(t.Context(), dir, nil, nil); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a changed part was extracted: %v", err)
	}
	var left []string
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			left = append(left, path)
		}
		return err
	}))
	if len(left) > 0 {
		t.Errorf("left is %v", left)
	}
	r, err := f.Part(contents[4].name)
	must(t, err)
	if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("a changed part was read: %v", err)
	}
	// What was there stays.
	path := filepath.Join(dir, contents[0].name)
	must(t, os.WriteFile(path, []byte("mine"), 0o600))
	if err := f.Extract(t.Context(), dir, nil, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file was replaced: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file that was there is %q, %v", text, err)
	}
}

func TestInterruptedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	deb := filepath.Join(dir, "deb")
	must(t, os.WriteFile(deb, make([]byte, 4<<20), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	err := Write(ctx, filepath.Join(dir, "box.sh"), example(), []Source{{contents[0].name, deb}}, nil,
		func(progress.Event) { cancel() })
	left, readErr := os.ReadDir(dir)
	must(t, readErr)
	if !errors.Is(err, context.Canceled) || len(left) != 1 {
		t.Errorf("%v, left is %v", err, left)
	}
}

func TestTrustedKeysAreThoseOfThePackageAndTheOperator(t *testing.T) {
	_, one := newKey(t)
	_, two := newKey(t)
	root := t.TempDir()
	if keys, err := TrustedKeys(root); len(keys) != 0 || err != nil {
		t.Errorf("without files: %v, %v", keys, err)
	}
	put := func(path, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o644))
	}
	put(KeyFile, string(one)+"\n")
	put("/etc/parley/a.pub", "# ours\n\n"+string(two)+"\n"+string(one)+"\n")
	keys, err := TrustedKeys(root)
	if err != nil || len(keys) != 2 || !one.In(keys) || !two.In(keys) {
		t.Errorf("%v, %v", keys, err)
	}
	mine := filepath.Join(root, "etc/parley/a.pub")
	must(t, os.Chmod(mine, 0o664))
	if _, err := TrustedKeys(root); err == nil || !strings.Contains(err.Error(), "a.pub lists keys") {
		t.Errorf("a file that others can write: %v", err)
	}
	must(t, os.Rename(mine, filepath.Join(root, "a")))
	must(t, os.Symlink(filepath.Join(root, "a"), mine))
	if keys, err := TrustedKeys(root); err == nil {
		t.Errorf("a link: %v", keys)
	}
	must(t, os.Remove(mine))
	put("/etc/parley/b.pub", "ssh-ed25519 AAAA\n")
	if _, err := TrustedKeys(root); err == nil || !strings.Contains(err.Error(), "b.pub") {
		t.Errorf("a file that holds no key: %v", err)
	}
}
