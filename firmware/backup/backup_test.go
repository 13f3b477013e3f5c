package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"parley/internal/bundle"
	"parley/internal/progress"
)

// dataFolder creates a data folder with these files.
func dataFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// copied is the database of the tests: an ordinary file.
func copied(data string) func(context.Context, string, func(int64, int64)) (int64, error) {
	return func(_ context.Context, file string, progress func(int64, int64)) (int64, error) {
		text, err := os.ReadFile(filepath.Join(data, databaseName))
		progress(int64(len(text)), int64(len(text)))
		return 7, errors.Join(err, os.WriteFile(file, text, 0o600))
	}
}

func backedUp(t *testing.T, data string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	if _, err := Make(t.Context(), Box{data, "1.0", copied(data)}, file, nil); err != nil {
		t.Fatal(err)
	}
	return file
}

func sound(context.Context, string) error { return nil }

// found returns the files below dir with their contents.
func found(t *testing.T, dir string) map[string]string {
	t.Helper()
	names, err := filesBelow(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

var boxFiles = map[string]string{
	"parley.db": "the database", "recordings/a.opus": strings.Repeat("sound", 1000), "recordings/b.opus": "",
	"tls/authority.pem": "key", "ca.crt": "certificate", "tls/acme/certificates/x/x.key": "key", "url.key": "key",
	"parley.yaml": "profile: test",
}

func TestRestoreReturnsTheBackedUpFiles(t *testing.T) {
	data := dataFolder(t, boxFiles)
	for name := range map[string]string{"parley.db-wal": "", "parley.lock": "", ".probe-1": "",
		"parley-before-v2.db": "", "tls/.box.pem-1": "", "prompts": "", "plugins.key": "", "plugin-cache": "",
		".plugins": ""} {
		if err := os.WriteFile(filepath.Join(data, name), []byte("not to be kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := backedUp(t, data)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup has mode %v (%v), want 0600: it holds keys", info.Mode(), err)
	}
	to := filepath.Join(t.TempDir(), "new")
	var events []progress.Event
	m, aside, err := Restore(t.Context(), file,
		Target{Data: to, Schema: 7, Check: func(_ context.Context, folder string) error {
			if got := found(t, folder); fmt.Sprint(got) != fmt.Sprint(boxFiles) {
				t.Errorf("checked was %v", got)
			}
			if _, err := os.Stat(to); err == nil {
				t.Error("the folder was there before it was checked")
			}
			return nil
		}}, func(e progress.Event) { events = append(events, e) })
	if err != nil || aside != "" {
		t.Fatal(aside, err)
	}
	if got := found(t, to); fmt.Sprint(got) != fmt.Sprint(boxFiles) {
		t.Errorf("restored is %v, want %v", got, boxFiles)
	}
	for name, want := range map[string]os.FileMode{"": 0o711, "ca.crt": 0o644, "tls": 0o700, "tls/authority.pem": 0o600,
		"parley.db": 0o600} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q has mode %o (%v), want %o", name, info.Mode().Perm(), err, want)
		}
	}
	if last := events[len(events)-1]; last.Step != progress.Done || last.Done != m.Bytes() || m.Schema != 7 ||
		m.Parley != "1.0" {
		t.Errorf("reported %v of %v", last, m)
	}
	if left, err := os.ReadDir(filepath.Dir(to)); err != nil || len(left) != 1 {
		t.Errorf("left next to it: %v (%v)", left, err)
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("left next to the backup: %v (%v)", left, err)
	}
}

// Restore refuses files that no backup contains, such as compiled plugins, a log that
// SQLite would apply to the database, or the signals and the lock of a box.
func TestRestoreRefusesFilesThatNoBackupHas(t *testing.T) {
	x := func(name string) bundle.File { return bundle.File{Name: name, Bytes: 1, SHA256: sumOf([]byte("x"))} }
	for _, name := range []string{
		"plugin-cache/wazero-v1/code", "plugin-cache", "Plugin-Cache/code", "plugins.key", "PLUGINS.KEY", "prompts/p",
		"parley.db-wal", "parley.db-shm", "parley.db-journal", "Parley.db", "parley.db/x", "parley-before-v3.db",
		"parley.lock", "parley.address", "last-backup.json",
		".keys", ".bell", ".logs", ".plugins", "plugins/.lock", "recordings/.x/y", "tls/.new",
		"plugins/../plugin-cache/code", "./plugin-cache/code", "plugin-cache//code", "/plugin-cache/code",
		"..", "recordings/..", "", ".",
	} {
		file := filepath.Join(t.TempDir(), "b")
		m := Manifest{Format: 1, Schema: 7, Files: []bundle.File{x(databaseName), x(name)}}
		must(t, os.WriteFile(file, archiveOf(t, m, x(databaseName), x(name)), 0o600))
		old := map[string]string{"parley.db": "old"}
		data := dataFolder(t, old)
		_, _, err := Restore(t.Context(), file, Target{
			Data:   data,
			Schema: 7,
			Force:  true,
			Check:  sound,
		}, nil)
		if err == nil || !strings.Contains(err.Error(), "no backup") {
			t.Errorf("%q: %v", name, err)
		}
		if got := found(t, data); fmt.Sprint(got) != fmt.Sprint(old) {
			t.Errorf("%q: it left %v", name, got)
		}
	}
}

// A program, or a library that settings of the same backup would load, is never restored,
// whatever its name; one in a data folder is left out of backups.
func TestNoProgramIsBackedUpOrRestored(t *testing.T) {
	library, err := os.ReadFile("/proc/self/exe")
	must(t, err)
	code := string(library[:4096])
	data := dataFolder(t, map[string]string{
		"parley.db": "x", "tools/parley": code, "recordings/a.opus": "OggS", "short": code[:3],
	})
	to := filepath.Join(t.TempDir(), "new")
	if _, _, err := Restore(t.Context(), backedUp(t, data), Target{Data: to, Schema: 7, Check: sound},
		nil); err != nil {
		t.Fatal(err)
	}
	if got := found(t, to); len(got) != 3 || got["short"] != code[:3] || got["recordings/a.opus"] == "" {
		t.Errorf("restored is %v", got)
	}

	database := bundle.File{Name: databaseName, Bytes: 1, SHA256: sumOf([]byte("x"))}
	planted := bundle.File{Name: "packs/runtime/lib.so", Bytes: int64(len(code)), SHA256: sumOf([]byte(code))}
	file := filepath.Join(t.TempDir(), "b")
	var b bytes.Buffer
	w, err := bundle.NewWriter(&b, time.Now(), 0o600)
	must(t, err)
	must(t, w.Header(manifestName, Manifest{Format: 1, Schema: 7, Files: []bundle.File{database, planted}}))
	must(t, w.Add(t.Context(), database.Name, database, strings.NewReader("x"), func(int64) {}))
	must(t, w.Add(t.Context(), planted.Name, planted, strings.NewReader(code), func(int64) {}))
	must(t, errors.Join(w.Close(), os.WriteFile(file, b.Bytes(), 0o600)))
	other := filepath.Join(t.TempDir(), "other")
	_, _, err = Restore(t.Context(), file, Target{Data: other, Schema: 7, Check: sound}, nil)
	if err == nil || !strings.Contains(err.Error(), "program") {
		t.Errorf("a library in a backup: %v", err)
	}
	if left, err := os.ReadDir(filepath.Dir(other)); err != nil || len(left) != 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}

// The secrets of the first key are in no backup; an older backup that has them is
// restored without them.
func TestBackupOmitsTheSecretsOfTheFirstKey(t *testing.T) {
	data := dataFolder(t, map[string]string{"parley.db": "x", "first-key.env": "secret", "parley.yaml": "x"})
	file := filepath.Join(t.TempDir(), "b")
	made, err := Make(t.Context(), Box{data, "1", copied(data)}, file, nil)
	must(t, err)
	if got := fmt.Sprint(made.Files); strings.Contains(got, "first-key") || len(made.Files) != 2 {
		t.Errorf("the backup has %s", got)
	}
	x := func(name string) bundle.File { return bundle.File{Name: name, Bytes: 1, SHA256: sumOf([]byte("x"))} }
	m := Manifest{Format: 1, Schema: 7, Files: []bundle.File{x(databaseName), x("first-key.env"), x("parley.yaml")}}
	must(t, os.WriteFile(file, archiveOf(t, m, m.Files...), 0o600))
	to := filepath.Join(t.TempDir(), "new")
	restored, _, err := Restore(t.Context(), file, Target{Data: to, Schema: 7, Check: sound}, nil)
	must(t, err)
	if got := found(t, to); len(got) != 2 || got["parley.yaml"] != "x" ||
		fmt.Sprint(restored.LeftOut) != "[first-key.env]" {
		t.Errorf("restored is %v, and left out %v", got, restored.LeftOut)
	}
}

// The key of the plugins' secrets is in no backup, and a restore leaves it in place.
func TestRestoreLeavesTheKeyOfPluginSecrets(t *testing.T) {
	data := dataFolder(t, map[string]string{"parley.db": "x", "plugins.key": "secret"})
	file := backedUp(t, data)
	to := Target{
		Data:   data,
		Schema: 7,
		Check:  sound,
		Force:  true,
	}
	if _, _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	if got := found(t, data); got["plugins.key"] != "secret" {
		t.Errorf("restored is %v", got)
	}
	to.Data = filepath.Join(t.TempDir(), "another box")
	if _, _, err := Restore(t.Context(), file, to, nil); err != nil {
		t.Fatal(err)
	}
	if got := found(t, to.Data); len(got) != 1 {
		t.Errorf("another box got %v", got)
	}
}

func TestFoldersOnAnotherDiskAreBackedUp(t *testing.T) {
	data, elsewhere := dataFolder(t, map[string]string{"parley.db": "x"}),
		dataFolder(t, map[string]string{"a.opus": "sound"})
	if err := os.Symlink(elsewhere, filepath.Join(data, "recordings")); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "new")
	if _, _, err := Restore(t.Context(), backedUp(t, data), Target{Data: to, Schema: 7, Check: sound},
		nil); err != nil {
		t.Fatal(err)
	}
	if got := found(t, to); got["recordings/a.opus"] != "sound" {
		t.Errorf("restored is %v", got)
	}
}

// The box runs during the backup: a recording grows, another is deleted, a third begins.
func TestBackupIsASnapshotOfARunningBox(t *testing.T) {
	data := dataFolder(t, map[string]string{"parley.db": "x", "recordings/grows": "one", "recordings/early": "gone",
		"recordings/late": "gone too"})
	file := filepath.Join(t.TempDir(), "b")
	database := copied(data)
	live := Box{data, "1", func(ctx context.Context, to string, p func(int64, int64)) (int64, error) {
		if err := os.WriteFile(filepath.Join(data, "recordings/new"),
			[]byte("of a chat that the database does not have"), 0o600); err != nil {
			return 0, err
		}
		return database(ctx, to, p)
	}}
	_, err := Make(t.Context(), live, file, func(e progress.Event) {
		switch {
		case e.Name == "database" && e.Step == progress.Done:
			must(t, os.Remove(filepath.Join(data, "recordings/early")))
		case e.Name == "checksums" && e.Step == progress.Done:
			must(t, os.WriteFile(filepath.Join(data, "recordings/grows"), []byte("one, two"), 0o600))
			must(t, os.Remove(filepath.Join(data, "recordings/late")))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "new")
	if _, _, err := Restore(t.Context(), file, Target{Data: to, Schema: 7, Check: sound}, nil); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found(t, to)); got != "map[parley.db:x recordings/grows:one]" {
		t.Errorf("restored is %s", got)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBackupRefusesUnsafeDestinations(t *testing.T) {
	data := dataFolder(t, boxFiles)
	there := filepath.Join(t.TempDir(), "there")
	must(t, os.WriteFile(there, []byte("x"), 0o600))
	for file, want := range map[string]string{
		there:                                "exists",
		filepath.Join(data, "b"):             "is in the data folder",
		filepath.Join(t.TempDir(), "no/b"):   "cannot be written",
		filepath.Join(data, "recordings/b"):  "is in the data folder",
		filepath.Join(data, "../data/../x/"): "",
	} {
		_, err := Make(t.Context(), Box{data, "1", copied(data)}, file, nil)
		if want == "" && err == nil {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	folder := t.TempDir()
	_, err := Make(ctx, Box{data, "1", copied(data)}, filepath.Join(folder, "b"), func(e progress.Event) {
		if e.Step == progress.Writing && e.Name == "backup" {
			cancel()
		}
	})
	if left, _ := os.ReadDir(folder); !errors.Is(err, context.Canceled) || len(left) != 0 {
		t.Errorf("called off: %v, left %v", err, left)
	}
}

func TestRestoreSetsTheOldFolderAside(t *testing.T) {
	file := backedUp(t, dataFolder(t, boxFiles))
	old := map[string]string{"parley.db": "another", "more": "x"}
	to := Target{Data: dataFolder(t, old), Schema: 7, Check: sound}
	if _, _, err := Restore(t.Context(), file, to, nil); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Fatalf("a folder that holds something: %v", err)
	}
	to.Force = true
	_, aside, err := Restore(t.Context(), file, to, nil)
	must(t, err)
	if got := found(t, to.Data); fmt.Sprint(got) != fmt.Sprint(boxFiles) {
		t.Errorf("restored is %v", got)
	}
	if got := found(t, aside); fmt.Sprint(got) != fmt.Sprint(old) ||
		!strings.HasPrefix(aside, to.Data+".before-restore-") {
		t.Errorf("aside in %s lies %v", aside, got)
	}

	// A folder with nothing but a lock is empty; one behind a link is that one.
	empty := dataFolder(t, map[string]string{"parley.lock": "1"})
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(empty, link))
	if _, aside, err := Restore(t.Context(), file, Target{Data: link, Schema: 7, Check: sound}, nil); err != nil ||
		aside != "" {
		t.Fatal(aside, err)
	}
	if got := found(t, empty); fmt.Sprint(got) != fmt.Sprint(boxFiles) {
		t.Errorf("restored is %v", got)
	}
}

// After any error in a backup the folder is as it was, and nothing is left next to it.
func TestFailedRestoreChangesNothing(t *testing.T) {
	whole, err := os.ReadFile(backedUp(t, dataFolder(t, boxFiles)))
	must(t, err)
	flipped := []byte(string(whole))
	flipped[len(flipped)/2] ^= 1
	database := bundle.File{Name: databaseName, Bytes: 1, SHA256: sumOf([]byte("x"))}
	for name, c := range map[string]struct {
		file  []byte
		want  string
		check error
	}{
		"cut off":        {whole[:len(whole)/2], "", nil},
		"cut at the end": {whole[:len(whole)-3], "damaged", nil},
		"a changed bit":  {flipped, "", nil},
		"empty":          {nil, "not a file that parley backup wrote", nil},
		"not a backup": {[]byte("PK\x03\x04 and so on, which is no backup"), "not a file that parley backup wrote",
			nil},
		"a bad database": {whole, "broken", errors.New("broken")},
		"newer": {archiveOf(t, Manifest{
			Format: 1,
			Schema: 8,
			Parley: "9.0",
			Files:  []bundle.File{database},
		}, database), "newer Parley (\"9.0\")", nil},
		"another format": {archiveOf(t, Manifest{Format: 2, Files: []bundle.File{database}}, database), "format 2",
			nil},
		"no database": {archiveOf(t, Manifest{Format: 1}), "no database", nil},
		"a way out": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{database, {Name: "../x", Bytes: 1, SHA256: sumOf([]byte("x"))}}},
			database, bundle.File{Name: "../x", Bytes: 1}), `"../x"`, nil},
		"an absolute path": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{database, {Name: "/tmp/x", Bytes: 1, SHA256: sumOf([]byte("x"))}}},
			database), `"/tmp/x"`, nil},
		"a name twice": {archiveOf(t, Manifest{Format: 1, Files: []bundle.File{database, database}}, database,
			database), "it lists", nil},
		"a negative size": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{database, {Name: "x", Bytes: -1, SHA256: ""}}}, database),
			"it lists", nil},
		"too much": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{{Name: databaseName, Bytes: 1 << 60}}}, database), "MB are needed",
			nil},
		"not announced": {archiveOf(t, Manifest{Format: 1, Files: []bundle.File{database}}, database,
			bundle.File{Name: "more", Bytes: 1}), "does not announce", nil},
		"another file": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{database, {Name: "x", Bytes: 1, SHA256: sumOf([]byte("x"))}}},
			database, bundle.File{Name: "y", Bytes: 1}), "should be", nil},
		"another content": {archiveOf(t,
			Manifest{Format: 1, Files: []bundle.File{{Name: databaseName, Bytes: 1, SHA256: sumOf([]byte("y"))}}},
			database), "sha256", nil},
	} {
		file := filepath.Join(t.TempDir(), "b")
		must(t, os.WriteFile(file, c.file, 0o600))
		old := map[string]string{"parley.db": "old"}
		data := dataFolder(t, old)
		_, _, err := Restore(t.Context(), file, Target{
			Data:   data,
			Schema: 7,
			Force:  true,
			Check:  func(context.Context, string) error { return c.check },
		}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if left, _ := os.ReadDir(filepath.Dir(data)); fmt.Sprint(found(t, data)) != fmt.Sprint(old) || len(left) != 1 {
			t.Errorf("%s: left %v, %v", name, found(t, data), left)
		}
	}
}

// archiveOf returns a file in the format of a backup whose members are all x.
func archiveOf(t *testing.T, m Manifest, members ...bundle.File) []byte {
	t.Helper()
	var b strings.Builder
	z, err := zstd.NewWriter(&b)
	must(t, err)
	w := tar.NewWriter(z)
	text, err := json.Marshal(m)
	must(t, err)
	must(t, w.WriteHeader(&tar.Header{Name: manifestName, Size: int64(len(text)), Mode: 0o600}))
	_, err = w.Write(text)
	must(t, err)
	for _, f := range members {
		must(t, w.WriteHeader(&tar.Header{Name: f.Name, Size: f.Bytes, Mode: 0o600}))
		_, err = io.WriteString(w, strings.Repeat("x", int(f.Bytes)))
		must(t, err)
	}
	must(t, errors.Join(w.Close(), z.Close()))
	return []byte(b.String())
}

func sumOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
