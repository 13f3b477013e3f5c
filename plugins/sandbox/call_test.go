package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"parley/plugins/manifest"
)

// built caches the modules that the tests build from Go.
var built sync.Map

// goModule builds testdata/name for WASI.
func goModule(t testing.TB, name string, reactor bool) []byte {
	t.Helper()
	if underRace {
		t.Skip("compiling a module of Go takes minutes under the race detector; tools/test runs this without it too")
	}
	build, _ := built.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "parley-sandbox-") // two test runs may build at once
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		out := filepath.Join(dir, name+".wasm")
		args := []string{"build", "-o", out}
		if reactor {
			args = append(args, "-buildmode=c-shared")
		}
		cmd := exec.Command("go", append(args, "./testdata/"+name)...)
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
		if text, err := cmd.CombinedOutput(); err != nil {
			return nil, errors.New(string(text))
		}
		return os.ReadFile(out)
	}))
	wasm, err := build.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

func host(t testing.TB, o Options) *Host {
	t.Helper()
	o.Cache = cacheDir // so that a module is compiled once for all tests
	h, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	return h
}

func load(t testing.TB, h *Host, yaml string, wasm []byte) *Module {
	t.Helper()
	m, err := manifest.Parse([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	module, err := h.Load(t.Context(), m, wasm)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = module.Close(context.Background()) })
	return module
}

const echoManifest = `
name: echo
version: 1.0.0
description: Says what it was called with.
reuse: chat
tools:
  - {name: echo, description: Echo.}
  - {name: fail, description: Fails.}
settings:
  - {name: city, required: true}
`

func TestBothABIsCallTools(t *testing.T) {
	h := host(t, Options{})
	for _, c := range []struct {
		name string
		wasm []byte
	}{{"command", goModule(t, "command", false)}, {"extism", goModule(t, "extism", true)}} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, h, echoManifest, c.wasm)
			var log []string
			call := Call{
				Tool:       "echo",
				Parameters: []byte(`{"place":"Zoo"}`),
				Account:    "a",
				Chat:       "1",
				Settings:   map[string]string{"city": "Bern"},
				Log:        func(l Line) { log = append(log, l.Level+" "+l.Text) },
			}
			for n := range 2 {
				r, err := m.Call(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				for _, want := range []string{`"tool":"echo"`, `"place":"Zoo"`, `"city":"Bern"`} {
					if !strings.Contains(r.Content, want) {
						t.Errorf("%s has no %s", r.Content, want)
					}
				}
				if fresh := n == 0 || m.Command(); r.Fresh != fresh || r.Memory == 0 || r.Took == 0 {
					t.Errorf("call %d: %+v", n, r)
				}
			}
			if len(log) != 2 || !strings.HasSuffix(log[0], " called") {
				t.Errorf("log %q", log)
			}
			call.Tool = "fail"
			if _, err := m.Call(t.Context(), call); AsFault(err).Kind != Failed || err.Error() != "no such place" {
				t.Errorf("error %v", err)
			}
			call.Tool = "other"
			if _, err := m.Call(t.Context(), call); AsFault(err).Kind != Unready {
				t.Errorf("error %v", err)
			}
			call.Tool, call.Settings = "echo", nil
			if _, err := m.Call(t.Context(), call); AsFault(err).Kind != Unready ||
				!strings.Contains(err.Error(), "city") {
				t.Errorf("error %v", err)
			}
		})
	}
}
