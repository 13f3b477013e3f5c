//go:build network

package packs

import (
	"os"
	"testing"

	"parley/internal/progress"
)

// TestEveryClientFetchesItsPacks pulls packs with the real clients, from
// the real registries: one of each client, or those named in PULL.
func TestEveryClientFetchesItsPacks(t *testing.T) {
	names := []string{"turn", "runtime-onnx", "voice-joe", "voice-jenny"}
	if os.Getenv("PULL") == "all" {
		names = nil
		for _, p := range BuiltIn() {
			if p.System == nil {
				names = append(names, p.Name)
			}
		}
	}
	packs, err := Find("", names...)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = Pull(t.Context(), dir, packs, func(e progress.Event) {
		t.Logf("%-14s %-8s %12d of %12d", e.Name, e.Step, e.Done, e.Total)
	})
	if err != nil {
		t.Fatal(err)
	}
	states, err := Verify(t.Context(), dir, packs, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if s.Status != Ready {
			t.Error(s)
		}
	}
}
