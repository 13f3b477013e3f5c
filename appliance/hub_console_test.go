package appliance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"parley/appliance/box"
	"parley/appliance/contract"
	"parley/fleet"
	"parley/fleet/agent"
	"parley/fleet/bus"
	"parley/store"
)

// The pages of a hub are used in a real browser. Three boxes without engines have joined it, with the agent and the
// database of a box; one of them says hostile things of itself. testdata/hub_console has a file for each page.
func TestConsolePagesOfAHubWorkInABrowser(t *testing.T) {
	if !inOwnProcess(t) {
		return
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	hub := startAppliance(t, RunHub, map[string]string{"hub.listen": "127.0.0.1:0", "hub.name": "head-office"})
	if err := box.FinishSetUp(t.Context(), hub.cfg.Data); err != nil { // else the console sets the box up
		t.Fatal(err)
	}
	joinBox(t, hub, "museum-1", "museum", func(s *fleet.State) {})
	joinBox(t, hub, "museum-2", "museum", func(s *fleet.State) {
		s.Problems = []string{`<img src=x onerror="document.title='owned'">`, "The disk is at 71 °C."}
	})
	lobby := joinBox(t, hub, "lobby-1", "lobby", func(s *fleet.State) {
		s.Ready, s.Missing = false, []string{"no models"}
	})
	writeChat(t, lobby, "Where is the coat check?")
	hub.post(t, "/v0/evi/configs", `{"evi_version":"2","name":"Guide"}`)
	runScript(t, "node", filepath.Join("testdata", "console.cjs"), "BOX_URL="+hub.url, "LINK="+signIn(t, hub),
		"STEPS=hub_console", "CLIENT="+clientFolder(t, "react-client"), "CHROMIUM="+chromium,
		"SHOTS="+screenshotFolder(t))
}

// joinBox adds a box to a hub, and runs its agent until the test ends. It returns when the hub has heard of it.
func joinBox(t *testing.T, hub *runningBox, name, group string, change func(*fleet.State)) *store.Store {
	t.Helper()
	var added contract.AddedFleetBox
	_, answer := hub.ask(t, hub.key, http.MethodPost, "/v0/box/fleet/boxes",
		fmt.Sprintf(`{"name":%q,"groups":[%q]}`, name, group))
	folder := t.TempDir()
	file := filepath.Join(folder, name+".join")
	err := errors.Join(json.Unmarshal([]byte(answer), &added), os.WriteFile(file, []byte(added.Join), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	join, err := bus.ReadJoin(file)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(testLog{t}, nil))
	records, err := store.Open(t.Context(), filepath.Join(folder, "data"), log)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := bus.Dial(join, bus.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	celsius := 61.0
	a, err := agent.Start(t.Context(), agent.Parts{
		Fleet:   store.Fleet{Box: name, Hub: join.Hub, Chats: true},
		Hub:     connection,
		Records: records,
		State: func(context.Context) fleet.State {
			load := float64(sent.Add(1)%20) / 10
			s := fleet.State{
				Version:     "1.0.0",
				Ready:       true,
				Seats:       4,
				Cores:       4,
				Load:        load,
				CoreCelsius: &celsius,
				DiskFree:    80e9,
				DiskTotal:   120e9,
				MemoryFree:  5e9,
				MemoryTotal: 8e9,
			}
			change(&s)
			return s
		},
		Log:    log,
		Every:  time.Second,
		Health: time.Second, // so that there is a history soon
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.Close()
		connection.Close()
		if err := records.Close(); err != nil {
			t.Error(err)
		}
	})
	return records
}

// writeChat stores a chat as a conversation does.
func writeChat(t *testing.T, records *store.Store, said string) {
	t.Helper()
	if _, err := records.CreateKey(t.Context(), store.NewKey{Account: box.DefaultAccount}); err != nil {
		t.Fatal(err)
	}
	account, err := records.Account(t.Context(), box.DefaultAccount)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UnixMilli()
	event := func(kind store.EventType, role store.Role, text string) store.Event {
		return store.Event{
			ID:          contract.NewID(),
			AtMS:        now,
			Type:        kind,
			Role:        role,
			MessageText: text,
		}
	}
	chat := store.NewChat{
		ID:        contract.NewID(),
		GroupID:   contract.NewID(),
		AccountID: account.ID,
		StartedMS: now,
		RequestID: contract.NewID(),
	}
	err = records.StartChat(t.Context(), chat, event(store.ChatStart, store.System, ""))
	err = errors.Join(err, records.AppendEvents(t.Context(), chat.ID,
		[]store.Event{event(store.UserMessage, store.User, said)}))
	err = errors.Join(err, records.EndChat(t.Context(), chat.ID, store.UserEnded, now+1000,
		event(store.ChatEnd, store.System, "")))
	if err != nil {
		t.Fatal(err)
	}
}

// addManaged makes the box one of a fleet whose hub manages a prompt.
func addManaged(t *testing.T, b *runningBox) {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	prompt := store.Version{
		Kind:    store.KindPrompt,
		ID:      "9f6a1c9e-6a4c-4a39-9b1e-0d8f5f1f0c11", // testdata/managed_console has it too
		Name:    "Rules of the house",
		Content: `{"text":"Be brief."}`,
	}
	err = errors.Join(
		records.JoinFleet(t.Context(), store.Fleet{Box: "museum-3", Hub: "head-office"}),
		records.ApplyWant(t.Context(), store.Want{
			Revision: 1,
			Hub:      "head-office",
			Accounts: []store.WantedAccount{{Name: box.DefaultAccount, Resources: []store.Version{prompt}}},
		}),
		records.Close())
	if err != nil {
		t.Fatal(err)
	}
}
