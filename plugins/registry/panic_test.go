package registry

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"parley/plugins/manifest"
	"parley/plugins/sandbox"
)

// asBefore installs a plugin as a former version did, with fewer checks.
func asBefore(t *testing.T, s *Registry, from string) {
	t.Helper()
	p, err := Read(from, "")
	must(t, err)
	must(t, s.Install(t.Context(), Offer{Package: p}, Choice{}))
}

// A plugin that imports the memory of the Extism kernel, and so could make the box panic,
// is refused at the installation. If it is installed already, it is not run.
func TestAPluginThatImportsTheKernelsMemoryIsNotRun(t *testing.T) {
	wasm, err := os.ReadFile("../sandbox/testdata/hostile/kernel-memory.wasm")
	must(t, err)
	const yaml = "name: evil\nversion: 1.0.0\ndescription: Means no good.\nwasm: tool.wasm\nreuse: any\n" +
		"hooks: [on_chat_end]\ntools: [{name: run, description: Run.}]\n"
	const words = "imports the memory extism:host/env.memory"
	from, s := fileOf(t, yaml, wasm), box(t, t.TempDir())
	p, err := Read(from, "")
	must(t, err)
	if _, err := s.Examine(t.Context(), p); !errors.As(err, new(ErrUnusable)) || !strings.Contains(err.Error(), words) {
		t.Errorf("examined, it is %v", err)
	}
	asBefore(t, s, from)
	install(t, s, fileOf(t, described("1.0.0"), tool(t, "one")))
	s.Watch()
	for range sandbox.DefaultInstances + 1 {
		_, err := s.CallHook(t.Context(), Origin{Account: "a"}, "evil", manifest.OnChatEnd, nil)
		if !errors.As(err, new(ErrStopped)) || !strings.Contains(err.Error(), words) {
			t.Errorf("its hook: %v", err)
		}
		if _, err := s.Call(t.Context(), Origin{Account: "a"}, "run", nil); !errors.As(err, new(ErrStopped)) {
			t.Errorf("its tool: %v", err)
		}
	}
	wantSaid(t, s, "a", "one a")
}

// A panic of the box in a hook is an error of that plugin: the process goes on, the
// instances are released, and the plugin is paused after three.
func TestAPanicInAHookIsAnErrorOfThatPlugin(t *testing.T) {
	outcomes := map[string]int{}
	s := box(t, t.TempDir(), observed(outcomes))
	install(t, s, fileOf(t, described("1.0.0", "hooks: [on_chat_end]"), tool(t, "one")))
	who := Origin{Account: "a", OnLog: func(Line) { panic("nobody listens") }}
	half := []byte(`{"do":"half a line","text":"oops"}`)
	for n := range 2 * sandbox.DefaultInstances { // more than there are instances
		_, err := s.CallHook(t.Context(), who, "tool", manifest.OnChatEnd, half)
		fault, isFault := errors.AsType[*sandbox.Fault](err)
		_, isBroken := errors.AsType[ErrBroken](err)
		if n < failuresInARow && (!isFault || !fault.Blames()) || n >= failuresInARow && !isBroken {
			t.Fatalf("call %d: %v", n, err)
		}
	}
	if outcomes["trapped"] != failuresInARow {
		t.Errorf("the outcomes are %v", outcomes)
	}
	wantState(t, s, Broken)
	for range 2 * sandbox.DefaultInstances { // also those that do not count
		_, err := s.Try(t.Context(), who, "tool", "do", half)
		if err == nil || sandbox.AsFault(err).Kind != sandbox.Trapped {
			t.Fatal(err)
		}
	}
	r, err := s.Try(t.Context(), Origin{}, "tool", "do", []byte(`{"text":"b"}`))
	if err != nil || r.Content != "one b" {
		t.Errorf("the next call: %q, %v", r.Content, err)
	}
}

// A panic while a module is loaded is an error for all callers.
func TestAPanicWhileAModuleIsLoadedIsAnError(t *testing.T) {
	m := newModule(func(context.Context) (*sandbox.Module, error) { panic("no such thing") })
	for range 3 {
		if _, err := m.acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be loaded") {
			t.Error(err)
		}
	}
	m.close()
}

// A call that panics leaves the breaker free for the next trial.
func TestAPanicEndsTheTrialOfAPausedPlugin(t *testing.T) {
	s := box(t, t.TempDir())
	install(t, s, fileOf(t, described("1.0.0"), empty))
	must(t, s.Records.MarkPluginBroken(t.Context(), "tool", mustShow(t, s).Digest, 1, "no"))
	now, err := s.current(t.Context())
	must(t, err)
	p := *now.plugins[0]
	p.module = nil
	func() {
		defer func() {
			if recover() == nil {
				t.Error("nothing panicked")
			}
		}()
		_, _ = s.callWithBreaker(t.Context(), &p, Origin{}, "do", nil, false)
	}()
	if p.breaker.trying {
		t.Error("no further trial is made")
	}
	if _, err := do(s, "", ""); err != nil {
		t.Error(err)
	}
}
