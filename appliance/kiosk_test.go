package appliance

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/store"
)

// A screen is paired with a code, talks over WebRTC and over a socket, and reconnects after
// the box was restarted: in a real browser, with a recording for a microphone. The language
// model follows a script.
func TestScreenTalks(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatalf("%v: install it, as make test does", err)
	}
	model := config.LanguageModel{OpenAI: scriptedModel(t), Model: "script"}
	thinks := func(c *config.Config) { c.Engines.LanguageModel = model }
	b := startBox(t, thinks)
	runScriptWatching(t, func(line string) {
		if line == "revoke the screens" {
			revokeScreens(t, b)
		}
		if line != "restart the box" {
			return
		}
		if err := b.stop(); err != nil {
			t.Error(err)
		}
		startBox(t, thinks, func(c *config.Config) {
			c.Data, c.Listen = b.cfg.Data, strings.TrimPrefix(b.url, "http://")
		})
	}, "node", filepath.Join("testdata", "kiosk.cjs"), "BOX_URL="+b.url, "CODE="+pairingCode(t, b, "Lobby"),
		"SECOND_CODE="+pairingCode(t, b, "Hall"),
		"CLIENT="+clientFolder(t, "react-client"), "CHROMIUM="+chromium, "MICROPHONE="+microphone(t),
		"SHOTS="+screenshotFolder(t))
}

// revokeScreens revokes the keys of all screens.
func revokeScreens(t *testing.T, b *runningBox) {
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Error(err)
		return
	}
	keys, err := records.ListKeys(t.Context(), "")
	for _, k := range keys {
		if k.Kiosk != nil {
			err = errors.Join(err, records.RevokeKey(t.Context(), k.ID))
		}
	}
	if err := errors.Join(err, records.Close()); err != nil {
		t.Error(err)
	}
}

// pairingCode returns a code that pairs a screen.
func pairingCode(t *testing.T, b *runningBox, name string) string {
	t.Helper()
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	code, err := records.StartPairing(t.Context(), "museum", store.Kiosk{Name: name}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := records.Close(); err != nil {
		t.Fatal(err)
	}
	return code
}
