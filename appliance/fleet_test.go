package appliance

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/fleet/fleettest"
)

// remoteConfig and remotePrompt are ids on the hub.
const (
	remoteConfig = "c0000000-0000-4000-8000-000000000001"
	remotePrompt = "c0000000-0000-4000-8000-000000000002"
	remoteKey    = "remote-api-key-of-the-hub-remote-api-key-of-hub-"
)

// remoteWant is a config with its prompt, and a key of an account that the box does not have.
func remoteWant(revision int64) fleet.Want {
	api, secret := sha256.Sum256([]byte(remoteKey)), sha256.Sum256([]byte("secret"))
	return fleet.Want{
		Revision: revision,
		Hub:      "test hub",
		Accounts: []fleet.Account{{
			Name: "museum",
			Keys: []fleet.Key{{
				ID:         "abcdefghijkl",
				Label:      "kiosks",
				Hint:       "hub-",
				APIHash:    api[:],
				SecretHash: secret[:],
			}},
			Prompts: []fleet.Resource{{
				ID:      remotePrompt,
				Name:    "guide",
				Version: 4,
				Content: json.RawMessage(`{"text":"You show people around."}`),
			}},
			Configs: []fleet.Resource{{
				ID:      remoteConfig,
				Name:    "desk",
				Version: 2,
				Content: json.RawMessage(`{"evi_version":"3","voice":{"name":"alan"},"prompt":{"id":"` + remotePrompt +
					`","version":4},"event_messages":{"on_new_chat":` +
					`{"enabled":true,"text":"Welcome to the museum."}}}`),
			}},
		}},
	}
}

// joinedBox runs a box that is in the fleet, and the hub's side of it.
type joinedBox struct {
	*runningBox
	hub    *bus.Hub
	states chan fleet.State
	facts  chan fleet.Fact
}

func startJoinedBox(t *testing.T, change ...func(*config.Config)) joinedBox {
	f := fleettest.Start(t)
	text, err := f.Join(t, "kiosk").Text()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kiosk.join")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b := joinedBox{hub: f.Hub(t), states: make(chan fleet.State, 1000), facts: make(chan fleet.Fact, 1000)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() {
		ended <- b.hub.States(ctx, func(s fleet.State, _ time.Time) { b.states <- s })
	}()
	go func() {
		ended <- b.hub.Facts(ctx, bus.Position{}, func(_ context.Context, all []bus.Received) error {
			for _, r := range all {
				for _, one := range r.Facts.Facts {
					b.facts <- one
				}
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	b.runningBox = startBoxWith(t, map[string]string{"fleet.join": file}, change...)
	return b
}

// want has the hub want something, and waits for a state.
func (b joinedBox) want(t *testing.T, w fleet.Want, until func(fleet.State) bool) fleet.State {
	t.Helper()
	if err := b.hub.PutWant(t.Context(), "kiosk", w); err != nil {
		t.Fatal(err)
	}
	return next(t, b.states, until)
}

func next[T any](t *testing.T, from chan T, until func(T) bool) (v T) {
	t.Helper()
	limit := time.After(waitLimit)
	for {
		select {
		case v = <-from:
			if until(v) {
				return v
			}
		case <-limit:
			t.Fatalf("the last that came: %+v", v)
		}
	}
}

// TestABoxRunsWhatItsHubWants joins a real box to a hub: it gets a config from afar, a client
// talks to it, the hub gets the chat, and a setting restarts the box when the chat is over.
func TestABoxRunsWhatItsHubWants(t *testing.T) {
	b := startJoinedBox(t, withScriptedModel(t))
	s := b.want(t, remoteWant(1), func(s fleet.State) bool { return s.Running == 1 && s.Ready })
	if s.Box != "kiosk" || s.Seats == 0 || s.DiskTotal == 0 || s.Why != "" {
		t.Errorf("the state is %+v", s)
	}
	local := b.key
	b.key = remoteKey
	c := b.call(t, "&config_id="+remoteConfig)
	heard := c.until("assistant_end", 1, waitLimit)
	if got := assistantText(heard); got != "Welcome to the museum." {
		t.Errorf("it greets with %q", got)
	}
	next(t, b.states, func(s fleet.State) bool { return s.Live == 1 })

	status, text := b.ask(t, remoteKey, http.MethodDelete, "/v0/evi/configs/"+remoteConfig, "")
	if status != http.StatusConflict ||
		!strings.Contains(text, "the hub test hub manages this config; change it there") {
		t.Errorf("deleting what the hub manages: %d %s", status, text)
	}
	status, text = b.ask(t, local, http.MethodDelete, "/v0/box/keys/abcdefghijkl", "")
	if status != http.StatusConflict || !strings.Contains(text, "the hub test hub manages this key") {
		t.Errorf("revoking a key of the hub: %d %s", status, text)
	}

	bad := remoteWant(2)
	bad.Accounts[0].Configs[0].Content = json.RawMessage(`{"evi_version":"3","voice":{"name":"Caruso"}}`)
	s = b.want(t, bad, func(s fleet.State) bool { return s.Wanted == 2 && s.Why != "" })
	if s.Running != 1 || !strings.Contains(s.Why, `this box does not have "Caruso"`) {
		t.Errorf("the state is %+v", s)
	}

	good := remoteWant(3)
	good.Settings = map[string]string{"tools.timeout": "20"}
	s = b.want(t, good, func(s fleet.State) bool { return s.Running == 3 && s.Waits != "" })
	if !strings.Contains(s.Waits, "tools.timeout") {
		t.Errorf("the box waits for %q", s.Waits)
	}
	c.conn.CloseNow()
	chat := next(t, b.facts, func(f fleet.Fact) bool { return f.Chat != nil && f.Chat.EndedMS != 0 }).Chat
	if chat.Account != "museum" || chat.ConfigID != remoteConfig || chat.ConfigVersion != 2 || chat.EventCount < 3 {
		t.Errorf("the hub has the chat %+v", chat)
	}
	if err := b.stopped(t); !errors.Is(err, ErrRestart) {
		t.Errorf("the box ended with %v", err)
	}
	again, err := b.cfg.Reload()
	if err != nil || again.Tools.TimeoutS != 20 {
		t.Errorf("after the restart the timeout is %d, %v", again.Tools.TimeoutS, err)
	}
}

// TestABoxLeavesItsFleet starts a box again without the setting: what came from afar is its own.
func TestABoxLeavesItsFleet(t *testing.T) {
	b := startJoinedBox(t, withScriptedModel(t))
	b.want(t, remoteWant(1), func(s fleet.State) bool { return s.Running == 1 && s.Ready })
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	alone := startBoxWith(t, map[string]string{"data": b.cfg.Data}, withScriptedModel(t))
	status, text := alone.ask(t, remoteKey, http.MethodDelete, "/v0/evi/configs/"+remoteConfig, "")
	if status != http.StatusOK {
		t.Errorf("deleting a config after leaving: %d %s", status, text)
	}
}
