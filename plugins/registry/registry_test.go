package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
	"parley/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// built caches the tests' module, by version.
var built sync.Map

// tool builds testdata/tool for WASI.
func tool(t testing.TB, version string) []byte {
	t.Helper()
	build, _ := built.LoadOrStore(version, sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "parley-shelf-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, "tool.wasm")
		cmd := exec.Command("go", "build", "-o", out, "-ldflags", "-s -w -X main.version="+version, "./testdata/tool")
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s", text)
		}
		return os.ReadFile(out)
	}))
	wasm, err := build.(func() ([]byte, error))()
	must(t, err)
	return wasm
}

// described returns a manifest for the tests' module, with more lines.
func described(version string, more ...string) string {
	return "name: tool\nversion: " + version + "\ndescription: Does what it is told.\nwasm: tool.wasm\n" +
		"tools:\n  - {name: do, description: Do it., parameters: {type: object, properties: {do: {type: string}}}, " +
		"fallback_content: Sorry., timeout: 3s}\n" +
		strings.Join(more, "\n") + "\n"
}

// empty is the smallest WASI command: (module (func (export "_start"))).
var empty = []byte(
	"\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00" +
		"\x03\x02\x01\x00\x07\x0a\x01\x06_start\x00\x00\x0a\x04\x01\x02\x00\x0b")

// packed returns a plugin with that manifest and module, and one test case.
func packed(t testing.TB, text string, wasm []byte) []byte {
	t.Helper()
	whole, err := manifest.Embed(wasm, []byte(text), map[string]string{"one.json": "{}"})
	must(t, err)
	return whole
}

// fileOf writes a plugin with that manifest and module to a file.
func fileOf(t testing.TB, text string, wasm []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tool.wasm")
	must(t, os.WriteFile(file, packed(t, text, wasm), 0o600))
	return file
}

// box returns a registry as the box has it, which serves the folder.
func box(t testing.TB, data string, change ...func(*Parts)) *Registry {
	t.Helper()
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	must(t, err)
	return opened(t, s, data, change...)
}

// beside returns a registry of another process, such as a command.
func beside(t testing.TB, data string, change ...func(*Parts)) *Registry {
	t.Helper()
	s, err := store.Join(t.Context(), data)
	must(t, err)
	return opened(t, s, data, change...)
}

func opened(t testing.TB, records *store.Store, data string, change ...func(*Parts)) *Registry {
	p := Parts{Records: records, Data: data, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&p)
	}
	s := Open(p)
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), records.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func install(t testing.TB, s *Registry, from string, grant ...string) {
	t.Helper()
	p, err := Read(from, "")
	must(t, err)
	o, err := s.Examine(t.Context(), p)
	must(t, err)
	must(t, s.Install(t.Context(), o, Choice{Grant: grant}))
}

func upgrade(t testing.TB, s *Registry, from string, c Choice) error {
	t.Helper()
	p, err := Read(from, "")
	must(t, err)
	o, err := s.Examine(t.Context(), p)
	must(t, err)
	return s.Upgrade(t.Context(), o, c)
}

// do calls the tests' tool.
func do(s *Registry, what, text string) (string, error) {
	parameters, err := json.Marshal(map[string]string{"do": what, "text": text})
	if err != nil {
		return "", err
	}
	r, err := s.Call(context.Background(), Origin{Account: "a", Chat: "c"}, "do", parameters)
	return r.Content, err
}

func wantSaid(t testing.TB, s *Registry, text, want string) {
	t.Helper()
	if got, err := do(s, "", text); err != nil || got != want {
		t.Errorf("it says %q, %v; want %q", got, err, want)
	}
}

func TestAFileIsInstalledAndCalled(t *testing.T) {
	s := box(t, t.TempDir())
	install(t, s, fileOf(t, described("1.0.0"), tool(t, "one")))
	all := mustTools(t, s)
	if len(all) != 1 || all[0].Name != "do" || all[0].FallbackContent != "Sorry." || all[0].Timeout != 3*time.Second {
		t.Errorf("the tools are %+v", all)
	}
	wantSaid(t, s, "hello", "one hello")
	if _, err := do(s, "fail", "no such place"); err == nil || err.Error() != "no such place" ||
		sandbox.AsFault(err).Kind != sandbox.Failed {
		t.Errorf("it fails with %v", err)
	}
	if _, err := s.Call(t.Context(), Origin{}, "other", nil); err != (ErrNoTool{"other"}) {
		t.Errorf("another tool: %v", err)
	}
}

// A change by another process applies from the box's next call on.
func TestChangesOfAnotherProcessApplyFromTheNextCall(t *testing.T) {
	data := t.TempDir()
	b := box(t, data)
	b.Watch()
	c := beside(t, data)
	install(t, c, fileOf(t, described("1.0.0", "settings: [{name: CITY}]"), tool(t, "one")))
	wantSaid(t, b, "a", "one a")
	city := "Ulm"
	must(t, c.Set(t.Context(), "tool", map[string]*string{"CITY": &city}))
	if got, err := do(b, "setting", "CITY"); err != nil || got != "Ulm" {
		t.Errorf("the setting is %q, %v", got, err)
	}
	must(t, upgrade(t, c, fileOf(t, described("1.1.0", "settings: [{name: CITY}]"), tool(t, "two")), Choice{}))
	wantSaid(t, b, "b", "two b")
	if now := mustShow(t, b); now.Version != "1.1.0" || now.Upgrades != 1 {
		t.Errorf("after the upgrade the plugin is %+v", now.Plugin)
	}
	if got, err := do(b, "setting", "CITY"); err != nil || got != "Ulm" {
		t.Errorf("after the upgrade the setting is %q, %v", got, err)
	}
	must(t, c.Remove(t.Context(), "tool"))
	if _, err := do(b, "", ""); err != (ErrNoTool{"do"}) {
		t.Errorf("removed, it answers %v", err)
	}
	if all := mustTools(t, b); len(all) != 0 {
		t.Errorf("after the removal the tools are %+v", all)
	}
	if left, err := filepath.Glob(filepath.Join(data, "plugins", "[^.]*")); err != nil || len(left) != 0 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func mustTools(t testing.TB, s *Registry) (all []manifest.Tool) {
	t.Helper()
	running, err := s.Running(t.Context())
	must(t, err)
	for _, r := range running {
		all = append(all, r.Manifest.Tools...)
	}
	return all
}
