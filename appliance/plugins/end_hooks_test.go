package plugins

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"parley/appliance/config"
	"parley/plugins/manifest"
	"parley/plugins/registry"
	"parley/store"
)

// opened returns a database and a registry on it.
func opened(t *testing.T) (*store.Store, *registry.Registry) {
	t.Helper()
	cfg := config.Config{Data: t.TempDir()}
	records, err := store.Open(t.Context(), cfg.Data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := OpenRegistry(cfg, records, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), records.Close()); err != nil {
			t.Error(err)
		}
	})
	return records, s
}

// endedChat stores a chat that has ended, with pending hook calls for the plugins.
func endedChat(t *testing.T, records *store.Store, plugins ...string) {
	t.Helper()
	_, err := records.CreateKey(t.Context(), store.NewKey{Account: "home"})
	if err != nil {
		t.Fatal(err)
	}
	account, err := records.Account(t.Context(), "home")
	if err != nil {
		t.Fatal(err)
	}
	n := store.NewChat{
		ID:        uuid.NewString(),
		GroupID:   uuid.NewString(),
		AccountID: account.ID,
		StartedMS: 1000,
		RequestID: "r",
		EndCalls:  store.EndCalls{Plugins: plugins, Body: "{}"},
	}
	err = errors.Join(records.StartChat(t.Context(), n), records.EndChat(t.Context(), n.ID, store.UserEnded, 2000))
	if err != nil {
		t.Fatal(err)
	}
}

// stillToTell returns the plugin of the next hook call and the number of its tries; empty
// if none is pending.
func stillToTell(t *testing.T, records *store.Store) (string, int) {
	t.Helper()
	next, err := records.NextEndCall(t.Context())
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return next.Plugin, next.Tries
}

// A plugin that makes the box panic at the end of a chat, installed by a former version
// with fewer checks, fails; the box goes on, and other plugins are called.
func TestAPluginThatMadeTheBoxPanicAtTheEndOfAChatFails(t *testing.T) {
	records, s := opened(t)
	wasm, err := os.ReadFile("../../plugins/sandbox/testdata/hostile/kernel-memory.wasm")
	if err != nil {
		t.Fatal(err)
	}
	const yaml = "name: evil\nversion: 1.0.0\ndescription: Means no good.\nhooks: [on_chat_end]\n"
	wasm, err = manifest.Embed(wasm, []byte(yaml), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []io.ReadSeeker{bytes.NewReader(wasm), quietPlugin(t, "1.0.0", "hooks: [on_chat_end]\n")} {
		p, err := registry.ReadFrom(from, "")
		if err == nil {
			err = s.Install(t.Context(), registry.Offer{Package: p}, registry.Choice{}) // not examined
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	endedChat(t, records, "evil", "quiet")
	p := &Plugins{registry: s, limiter: semaphore.NewWeighted(maxConcurrentCalls)}
	e := endHooks{records, p, slog.New(slog.DiscardHandler)}
	if wait := e.runDue(t.Context()); wait <= 0 || wait > endRetryAfter {
		t.Errorf("the next call is in %v", wait)
	}
	if left, tries := stillToTell(t, records); left != "evil" || tries != 1 {
		t.Errorf("still to be told is %q, tried %d times", left, tries)
	}
}

// A panic of the box at the end of a chat counts as a failed try.
func TestAPanicAtTheEndOfAChatIsATry(t *testing.T) {
	records, _ := opened(t)
	endedChat(t, records, "any")
	e := endHooks{records, &Plugins{}, slog.New(slog.DiscardHandler)} // without a registry
	for try := range endTries {
		if left, tries := stillToTell(t, records); left != "any" || tries != try {
			t.Fatalf("still to be told is %q, tried %d times", left, tries)
		}
		next, err := records.NextEndCall(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := e.runOne(context.Background(), next); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := stillToTell(t, records); left != "" {
		t.Errorf("%s is still to be told", left)
	}
}
