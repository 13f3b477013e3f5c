package appliance

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/config"
	"parley/appliance/engine"
	"parley/appliance/engines"
	"parley/internal/layout"
)

// storedPrompts returns the files of the stored prompts, with the times of their last use.
func storedPrompts(t *testing.T, cfg config.Config) map[string]time.Time {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(cfg.Data, layout.Prompts))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	files := map[string]time.Time{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), ".") {
			files[e.Name()] = info.ModTime()
		}
	}
	return files
}

// waitForPrompts waits until a box has stored n prompts.
func waitForPrompts(t *testing.T, cfg config.Config, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); len(storedPrompts(t, cfg)) != n; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the box keeps %d prompts, want %d", len(storedPrompts(t, cfg)), n)
		}
	}
}

func TestPromptsArePrefilledAndStored(t *testing.T) {
	long := strings.Repeat("Breakfast is on the second floor, and the pool is on the fifth. ", 6)
	b := startBox(t, func(c *config.Config) { c.Answers.Rules = config.ForNone }) // the rules would be another prompt
	if n := len(storedPrompts(t, b.cfg)); n != 1 {
		t.Fatalf("a box that is ready has read %d prompts, want its own", n)
	}
	b.post(t, "/v0/evi/configs",
		`{"name":"hotel","evi_version":"3","voice":{"name":"joe"},"prompt":{"text":"You are the voice of a hotel. `+
			long+`"}}`)
	waitForPrompts(t, b.cfg, 2)
	prompt := b.post(t, "/v0/evi/prompts", `{"name":"museum","text":"You are the voice of a museum. `+long+`"}`)
	b.post(t, "/v0/evi/configs", `{"name":"museum","evi_version":"3","voice":{"name":"joe"},"prompt":{"id":"`+prompt+
		`"}}`)
	waitForPrompts(t, b.cfg, 3)
	b.post(t, "/v0/evi/prompts/"+prompt, `{"text":"You are the voice of another museum. `+long+`"}`)
	waitForPrompts(t, b.cfg, 4)
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	opened, err := engines.Open(t.Context(), b.cfg, engines.Thinking, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	p := engine.Prompt{Conversation: "a visitor", MaxTokens: 1, Messages: []engine.Message{
		{Role: engine.System, Content: "You are the voice of a hotel. " + long},
		{Role: engine.User, Content: "When is breakfast?"},
	}}
	u, err := opened.Model.Generate(t.Context(), p, func(engine.Part) error { return nil })
	if err != nil || u.CachedTokens < u.PromptTokens-20 {
		t.Errorf("after a restart %d of %d tokens of a config's prompt had to be read (%v)",
			u.PromptTokens-u.CachedTokens, u.PromptTokens, err)
	}
}

// A prefill for later chats stops when a chat starts, and resumes when it has ended. It
// runs in parallel to a chat only if that lasts long.
func TestPrefillWaitsWhileAChatIsLive(t *testing.T) {
	for name, c := range map[string]struct {
		from, until time.Duration // when a chat is live
		begun       int
		over        time.Duration
	}{
		"nobody comes":              {0, 0, 1, 5 * time.Second},
		"somebody is there":         {0, time.Minute, 1, 65 * time.Second},
		"somebody comes meanwhile":  {2 * time.Second, time.Minute, 2, 65 * time.Second},
		"somebody stays all day":    {0, 24 * time.Hour, 1, prefetchPatience + 5*time.Second},
		"somebody comes and stays":  {2 * time.Second, 24 * time.Hour, 2, prefetchPatience + 5*time.Second},
		"somebody comes afterwards": {6 * time.Second, time.Minute, 1, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, times := time.Now(), 0
				err := whileQuiet(t.Context(), func() (bool, <-chan struct{}) {
					changes, now := make(chan struct{}), time.Since(began)
					for _, at := range []time.Duration{c.from, c.until} {
						if at > now {
							time.AfterFunc(at-now, func() { close(changes) })
							break
						}
					}
					return now >= c.from && now < c.until, changes
				}, func(ctx context.Context) error {
					times++
					select {
					case <-time.After(5 * time.Second):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				if took := time.Since(began).Round(time.Second); err != nil || times != c.begun || took != c.over {
					t.Errorf("begun %d times, read after %v (%v); want %d and %v", times, took, err, c.begun, c.over)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := whileQuiet(ctx, func() (bool, <-chan struct{}) {
			return true, nil
		}, func(context.Context) error {
			t.Error("it is prefilled during a chat")
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
