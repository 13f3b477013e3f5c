package author

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// tools/npm-install installs asc in the cache.
	cache := os.Getenv("PARLEY_CACHE")
	if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, ".cache", "parley")
	}
	os.Setenv("PATH", filepath.Join(cache, "assemblyscript", "node_modules", ".bin")+string(filepath.ListSeparator)+
		os.Getenv("PATH"))
	goleak.VerifyTestMain(m)
}

// built builds the project in dir, and runs its test cases.
func built(t *testing.T, dir string) (Report, string) {
	t.Helper()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := Build(t.Context(), p, &said); err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	r, err := Test(t.Context(), p, func(o Outcome) { _ = o.Print(&said) })
	if err != nil {
		t.Fatalf("%v\n%s", err, &said)
	}
	return r, said.String()
}

func TestANewPluginBuildsAndPassesItsTests(t *testing.T) {
	for _, lang := range Languages() {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "hello")
			if _, err := New(dir, lang); err != nil {
				t.Fatal(err)
			}
			if r, said := built(t, dir); r.Passed != 3 || r.Failed != 0 {
				t.Errorf("%d passed, %d failed\n%s", r.Passed, r.Failed, said)
			}
			// The module alone is the whole plugin.
			alone, err := os.ReadFile(filepath.Join(dir, "hello.wasm"))
			if err != nil || !bytes.Contains(alone, []byte("parley.manifest")) {
				t.Errorf("hello.wasm has no manifest in it (%v)", err)
			}
		})
	}
}

func TestTheExamplesPassTheirTests(t *testing.T) {
	examples, err := filepath.Glob(filepath.Join("..", "examples", "*", ManifestFile))
	if err != nil || len(examples) < 5 {
		t.Fatalf("%d examples: %v", len(examples), err)
	}
	for _, example := range examples {
		from := filepath.Dir(example)
		t.Run(filepath.Base(from), func(t *testing.T) {
			dir := t.TempDir()
			copied(t, dir, from)
			if r, said := built(t, dir); r.Failed != 0 || r.Passed < 5 {
				t.Errorf("%d passed, %d failed\n%s", r.Passed, r.Failed, said)
			}
			if filepath.Base(from) == "weather" {
				requestsAreCompared(t, dir)
			}
		})
	}
}

const cAssertion = "#include <assert.h>\nint main(int n, char **all) { assert(n == 77); return 0; }\n"

// crashing are programs that crash, by language, with their file and what they write.
var crashing = map[string]struct{ file, source, says string }{
	"go":   {"main.go", `package main; func main() { panic("no such place") }`, "panic: no such place"},
	"rust": {"src/main.rs", `fn main() { panic!("no such place") }`, "no such place"},
	"c":    {"main.c", cAssertion, "Assertion failed: n == 77"},
	"assemblyscript": {"assembly/index.ts", `import { abort } from "./parley"; abort("no such place");`,
		"no such place"},
}

func TestTheReportOfACrashHasItsMessage(t *testing.T) {
	for lang, c := range crashing {
		t.Run(lang, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "hello")
			if _, err := New(dir, lang); err != nil {
				t.Fatal(err)
			}
			test := `{"parameters": {"who": "Ada"}, "error": "` + c.says + `"}`
			for file, text := range map[string]string{c.file: c.source, "tests/greet.json": test} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if r, said := built(t, dir); r.Passed != 1 {
				t.Error(said)
			}
		})
	}
}

// copied copies a folder, with the targets of its links, as an author does who starts from
// an example. It leaves out build results.
func copied(t *testing.T, to, from string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		info, err := os.Stat(source)
		switch {
		case err != nil:
			t.Fatal(err)
		case generatedFolder(e.Name()):
		case info.IsDir():
			if err := os.Mkdir(target, 0o755); err != nil {
				t.Fatal(err)
			}
			copied(t, target, source)
		default:
			if err := copyFile(target, source); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestANewProjectNeedsAnEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	for name, why := range map[string]string{"Bad_Name": "at most 64 of a-z", "there": "exists and is not empty",
		"main": ""} {
		target := filepath.Join(dir, name)
		if name == "there" {
			if err := os.MkdirAll(filepath.Join(target, "mine"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_, err := New(target, "c")
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", name, err, why)
		}
	}
	if _, err := New(filepath.Join(dir, "x"), "cobol"); err == nil ||
		!strings.Contains(err.Error(), "go, rust, assemblyscript, c are allowed") {
		t.Errorf("cobol: %v", err)
	}
}

func TestMissingBuildToolsAreNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for lang, want := range map[string]string{"c": "apt-get install clang lld wasi-libc",
		"assemblyscript": "there is no node"} {
		dir := filepath.Join(t.TempDir(), "hello")
		if _, err := New(dir, lang); err != nil {
			t.Fatal(err)
		}
		p, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := Build(t.Context(), p, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", lang, err, want)
		}
	}
}

// rustc's own linker may be missing where lld is installed, as on Debian 13.
func TestRustUsesTheLinkerThatIsInstalled(t *testing.T) {
	bin, sysroot := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	program := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rustc := filepath.Join(bin, "rustc")
	program(rustc, "echo "+sysroot+"\n")
	expect := func(ok bool, want ...string) {
		t.Helper()
		if vars, found := linkerOf(rustc, "wasm32-wasip1"); found != ok || !slices.Equal(vars, want) {
			t.Errorf("%q, %v; want %q, %v", vars, found, want, ok)
		}
	}
	expect(false)
	wasmLD := filepath.Join(bin, "wasm-ld")
	program(wasmLD, "")
	expect(true, "CARGO_TARGET_WASM32_WASIP1_LINKER="+wasmLD)
	program(filepath.Join(sysroot, "lib", "rustlib", "x86_64-unknown-linux-gnu", "bin", "rust-lld"), "")
	expect(true)
}

func TestAFailedBuildLeavesTheOldModule(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hello")
	if _, err := New(dir, "c"); err != nil {
		t.Fatal(err)
	}
	built(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, "hello.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte("int main(void) { return gone; }\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	p, _ := Open(dir)
	var said bytes.Buffer
	if err := Build(t.Context(), p, &said); err == nil || !strings.Contains(said.String(), "gone") {
		t.Errorf("%v: %s", err, &said)
	}
	after, err := os.ReadFile(filepath.Join(dir, "hello.wasm"))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the module was changed or deleted (%v)", err)
	}
	var left []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".part") {
			left = append(left, path)
		}
		return err
	})
	if len(left) > 0 {
		t.Errorf("files left: %v", left)
	}
}

func TestWatchNamesTheChangedFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "hello")
	if _, err := New(dir, "go"); err != nil {
		t.Fatal(err)
	}
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	told, ended := make(chan string, 16), make(chan error, 1)
	go func() { ended <- Watch(ctx, p, func(_ context.Context, file string) { told <- file }) }()
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-told:
			if got != want {
				t.Errorf("watch named %q, want %q", got, want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("watch did not name %q", want)
		}
	}
	write := func(parts ...string) {
		t.Helper()
		path := filepath.Join(append([]string{dir}, parts...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(path), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect("")
	write("main.go")
	expect("main.go")
	write("tests", "more.json")
	expect(filepath.Join("tests", "more.json"))
	write("hello.wasm") // a build result is not a change
	write("target", "x")
	time.Sleep(2 * quietTime)
	write("deep", "er.go") // a folder that did not exist at first
	if got := <-told; !slices.Contains([]string{"deep", filepath.Join("deep", "er.go")}, got) {
		t.Errorf("watch named %q, want deep/er.go", got)
	}
	stop()
	if err := <-ended; err != context.Canceled {
		t.Errorf("ended with %v", err)
	}
}
