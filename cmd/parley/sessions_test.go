package main

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/internal/layout"
	"parley/store"
)

// Sessions of the console are listed and ended whether or not the box runs; a link needs
// a running box.
func TestTheSessionsOfTheConsoleAreListedAndEnded(t *testing.T) {
	data := t.TempDir()
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for range 2 {
		link, err := s.StartSignIn(t.Context(), "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		_, made, err := s.SignIn(t.Context(), link, "Firefox", "10.0.0.7", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	console := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := parley(t, "", append([]string{"console", "--data", data}, args...)...)
		if code != want {
			t.Fatalf("%v: code %d: %s", args, code, errs)
		}
		return out + errs
	}
	var listed []listedSession
	if err := json.Unmarshal([]byte(console(exitDone, "--sessions", "--json")), &listed); err != nil ||
		len(listed) != 2 || listed[0].ID != ids[1] || listed[0].Browser != "Firefox" {
		t.Errorf("%+v, %v", listed, err)
	}
	if out := console(exitDone, "--sessions"); !strings.Contains(out, ids[0]) || !strings.Contains(out, "10.0.0.7") {
		t.Error(out)
	}
	if out := console(exitFailed, "--end", "nobody"); !strings.Contains(out, "parley console --sessions") {
		t.Error(out)
	}
	console(exitMisuse, "--end")
	console(exitMisuse, "--end", ids[0], "--sessions")
	console(exitDone, "--end", ids[0])
	if out := console(exitDone, "--end", "all"); out != "1 ended\n" {
		t.Error(out)
	}
	if out := console(exitFailed); !strings.Contains(out, "does not run") {
		t.Error(out)
	}
}

// A link names the addresses of the box, and says where the page has no microphone.
func TestALinkNamesWhereTheBoxIsReached(t *testing.T) {
	for _, c := range []struct {
		url, listen, says string
		elsewhere         bool
	}{
		{"http://127.0.0.1:8080", "127.0.0.1:8080", "listens on this machine only", false},
		{"https://127.0.0.1:8443", "192.0.2.7:8443", "From another machine:\nhttps://192.0.2.7:8443/#signin=", true},
		{"http://192.0.2.7:8080", "192.0.2.7:8080", "TLS is off", true},
	} {
		data := t.TempDir()
		s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		where, err := json.Marshal(map[string]any{"pid": os.Getpid(), "url": c.url, "listen": c.listen})
		if err == nil {
			err = os.WriteFile(filepath.Join(data, layout.Address), where, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := parley(t, "", "console", "--data", data)
		if code != exitDone || !strings.HasPrefix(out, c.url+"/#signin=") || !strings.Contains(out, c.says) {
			t.Errorf("%s: code %d: %s %s", c.listen, code, out, errs)
		}
		_, out, _ = parley(t, "", "console", "--data", data, "--json")
		var told consoleLink
		if err := json.Unmarshal([]byte(out), &told); err != nil || (len(told.Elsewhere) > 0) != c.elsewhere {
			t.Errorf("%s: %s, %v", c.listen, out, err)
		}
		_, out, _ = parley(t, "", "kiosk", "--data", data)
		if !strings.Contains(out, c.url+"/kiosk#") || strings.Contains(out, "on another one") != c.elsewhere ||
			strings.Contains(out, "no microphone") != (c.says == "TLS is off") {
			t.Error(out)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The key of a screen is listed with the keys, and revoked like them.
func TestScreensAreKeys(t *testing.T) {
	data, _ := aBox(t)
	s, err := store.Join(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var made pairing
	_, out, errs := parley(t, "", "kiosk", "--name", "Lobby", "--account", "home", "--data", data, "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	paired, _, err := s.Pair(t.Context(), made.Code, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var listed []listedKey
	_, out, _ = parley(t, "", "keys", "list", "--screens", "--data", data, "--json")
	if err := json.Unmarshal([]byte(out), &listed); err != nil || len(listed) != 1 || listed[0].KeyID != paired.KeyID ||
		listed[0].Label != "Lobby" || listed[0].ScreenConfig == nil {
		t.Errorf("%v, %s", err, out)
	}
	parley(t, "", "keys", "revoke", paired.KeyID, "--data", data)
	if _, out, _ = parley(t, "", "keys", "list", "--screens", "--data", data); !strings.Contains(out, "revoked") {
		t.Error(out)
	}
	code, _, errs := parley(t, "", "kiosk", "--for", "nothing", "--account", "home", "--data", data)
	if code != exitFailed || !strings.Contains(errs, "--for") {
		t.Errorf("code %d, %s", code, errs)
	}
}
