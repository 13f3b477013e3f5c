package appliance

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
)

// The published client talks to two real boxes through the door of their hub: each has one seat, and a certificate that
// it made itself. In the middle both boxes are restarted.
func TestPublishedClientTalksThroughTheDoor(t *testing.T) {
	t.Parallel()
	python := filepath.Join(clientFolder(t, "py-client"), "bin", "python")
	hub := startAppliance(t, RunHub, map[string]string{"hub.listen": "127.0.0.1:0", "hub.name": "head-office"})
	answers := config.LanguageModel{OpenAI: constantModel(t, "The way is to the left."), Model: "parrot"}
	start := func(flags map[string]string) *runningBox {
		return startAppliance(t, Run, flags, func(c *config.Config) { c.Engines.LanguageModel = answers })
	}
	all, boxes := []map[string]string{}, []*runningBox{}
	for _, name := range []string{"museum-1", "museum-2"} {
		flags := joinedBoxFlags(t, hub, name)
		all, boxes = append(all, flags), append(boxes, start(flags))
	}
	guide := hub.post(t, "/v0/evi/configs", `{"evi_version":"2","name":"Guide"}`)
	rollOut(t, hub, guide)
	runScriptWatching(t, func(line string) {
		if line != "stop the boxes" {
			return
		}
		for i, b := range boxes {
			if err := b.stop(); err != nil {
				t.Error(err)
			}
			start(all[i])
		}
	}, python, filepath.Join("testdata", "door.py"), "BOX_URL="+hub.url, "API_KEY="+hub.key, "CONFIG="+guide)
}

// joinedBoxFlags adds a box to a hub, and returns the settings with which it joins and can be started again.
func joinedBoxFlags(t *testing.T, hub *runningBox, name string) map[string]string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, answer := hub.ask(t, hub.key, http.MethodPost, "/v0/box/fleet/boxes", fmt.Sprintf(`{"name":%q}`, name))
	var added contract.AddedFleetBox
	if err := json.Unmarshal([]byte(answer), &added); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	file := filepath.Join(folder, name+".join")
	if err := os.WriteFile(file, []byte(added.Join), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"data":           filepath.Join(folder, "data"),
		"listen":         address,
		"tls":            string(config.TLSOwn),
		"chat.max_chats": "1",
		"fleet.join":     file,
		"fleet.address":  "https://" + address,
	}
}

// rollOut rolls a config out to all boxes of a hub, and waits until they run it.
func rollOut(t *testing.T, hub *runningBox, config string) {
	t.Helper()
	status, answer := hub.ask(t, hub.key, http.MethodPost, "/v0/box/fleet/rollouts",
		fmt.Sprintf(`{"item":{"kind":"config","id":%q},"target":"all"}`, config))
	var r contract.ReturnRollout
	if err := json.Unmarshal([]byte(answer), &r); err != nil || status >= 300 {
		t.Fatal(status, answer)
	}
	for begun := time.Now(); r.State != contract.RolloutDone; time.Sleep(20 * time.Millisecond) {
		_, answer = hub.ask(t, hub.key, http.MethodGet, fmt.Sprintf("/v0/box/fleet/rollouts/%d", r.ID), "")
		if err := json.Unmarshal([]byte(answer), &r); err != nil || time.Since(begun) > waitLimit {
			t.Fatal(answer)
		}
	}
}
