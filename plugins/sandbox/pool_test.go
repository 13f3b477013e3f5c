package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/plugins/manifest"
)

// counting returns a module that outputs, as a digit, how often its instance was called.
func counting() []byte {
	const block = firstBlock + 16 // the second of the shared memory; the parameters are the first
	return run(code(
		i64c(1), call(0), 0x1A, // alloc
		i32c(0), i32c(0), 0x28, 2, 0, i32c(1), 0x6A, 0x36, 2, 0, // one more
		i64c(block), i32c('0'), i32c(0), 0x28, 2, 0, 0x6A, call(1), // store_u8
		i64c(block), i64c(1), call(2), zero,
	), extismImport("alloc", []byte{i64}, []byte{i64}), extismImport("store_u8", []byte{i64, i32}, nil),
		extismImport("output_set", []byte{i64, i64}, nil)).module()
}

// The manifest decides which calls reuse an instance. Other accounts never do, and no call
// does after a change of permissions.
func TestInstancesAreReusedAsTheManifestSays(t *testing.T) {
	h := host(t, Options{})
	other := manifest.Permissions{Memory: 1 << 20}
	for reuse, want := range map[manifest.Reuse]string{manifest.ReuseNone: "111111111", manifest.ReuseChat: "123111211",
		manifest.ReuseAny: "123451231"} {
		m := load(t, h, strings.Replace(hostileManifest, "reuse: any", "reuse: "+string(reuse), 1), counting())
		got := ""
		for _, c := range []Call{
			{Account: "a", Chat: "1"}, {Account: "a", Chat: "1"}, {Account: "a", Chat: "1"}, {Account: "a", Chat: "2"},
			{Account: "a", Chat: "3"},
			{Account: "b", Chat: "9"}, {Account: "b", Chat: "9"}, {Account: "b", Chat: "8"},
			{Account: "a", Chat: "1", Granted: other},
		} {
			c.Tool = "run"
			r, err := m.Call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			got += r.Content
		}
		if got != want {
			t.Errorf("%s: %s, want %s", reuse, got, want)
		}
	}
}

// An idle instance is closed if a call needs its slot.
func TestIdleInstancesAreClosedForNewCalls(t *testing.T) {
	h := host(t, Options{Instances: 2, Wait: time.Second})
	m := load(t, h, hostileManifest, counting())
	for _, account := range []string{"a", "b", "c", "a", "c"} {
		if _, err := m.Call(t.Context(), Call{Tool: "run", Account: account}); err != nil {
			t.Fatal(err)
		}
		if n := len(h.pool.slots); n > 2 {
			t.Errorf("%d instances", n)
		}
	}
}

// A module that is closed during calls makes them fail only as gone.
func TestClosingAModuleDuringCallsIsSafe(t *testing.T) {
	h := host(t, Options{Instances: 4})
	const callers, each = 4, 15 // one instance may take all calls, and then counts to 79, in letters
	for range 20 {
		m := load(t, h, hostileManifest, counting())
		var calls sync.WaitGroup
		for range callers {
			calls.Go(func() {
				for range each {
					if _, err := m.Call(context.Background(), Call{Tool: "run", Account: "a"}); err != nil &&
						AsFault(err).Kind != Gone {
						t.Errorf("%s: %v", AsFault(err).Kind, err)
					}
				}
			})
		}
		_ = m.Close(t.Context())
		calls.Wait()
	}
	if n := len(h.pool.slots); n != 0 {
		t.Errorf("%d instances are left", n)
	}
}

// A truncated or overwritten cache is rebuilt.
func TestADamagedCacheIsRebuilt(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut":         func(b []byte) []byte { return b[:len(b)/2] },
		"empty":       func([]byte) []byte { return nil },
		"overwritten": func(b []byte) []byte { return []byte(strings.Repeat("x", len(b))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			m, err := manifest.Parse([]byte(hostileManifest))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				h, err := New(t.Context(), Options{Cache: dir})
				if err != nil {
					t.Fatal(err)
				}
				module, err := h.Load(t.Context(), m, counting())
				if err != nil {
					t.Fatal(err)
				}
				if r, err := module.Call(t.Context(), Call{Tool: "run"}); err != nil || r.Content != "1" {
					t.Errorf("%q %v", r.Content, err)
				}
				_ = module.Close(t.Context())
				_ = h.Close(t.Context())
				files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
				if err != nil || len(files) == 0 {
					t.Fatal("no cache", err)
				}
				for _, f := range files {
					b, err := os.ReadFile(f)
					if err == nil {
						err = os.WriteFile(f, damage(b), 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// If others need the cores, an endless plugin leaves them most of the time.
func TestABusyPluginLeavesOthersTheCores(t *testing.T) {
	h := host(t, Options{})
	m := load(t, h, strings.Replace(hostileManifest, "300ms", "1s", 1), run(code(forever(), 0x00)).module())
	h.contention.until.Store(time.Now().Add(time.Hour).UnixNano())
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, begun := threadUsage().cpu, time.Now()
	if _, err := m.Call(t.Context(), Call{Tool: "run", Account: "a"}); err == nil || AsFault(err).Kind != Late {
		t.Error(err)
	}
	if core, took := threadUsage().cpu-before, time.Since(begun); core > took/2 {
		t.Errorf("the plugin used a core for %v of %v", core, took)
	}
}
