package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/store"
)

// harmless are the commands that change nothing on a box, that ask a running box, whose API
// records it, or that record their acts themselves.
func harmless() []string {
	return strings.Split("update;bundle create;bundle install;serve;config;doctor;"+
		"answers import;answers export;answers try;answers report;talk;say;hear;call;batch;version;help;"+
		"keys list;plugin list;plugin new;plugin build;plugin sign;plugin test;packs list;"+
		"hub boxes;hub rollout", ";")
}

func TestEveryCommandIsAnActOrIsHarmless(t *testing.T) {
	parser, err := newParser()
	if err != nil {
		t.Fatal(err)
	}
	known := commandActs()
	for _, leaf := range parser.Model.Leaves(false) {
		name := strings.TrimPrefix(leaf.FullPath(), "parley ")
		_, is := known[name]
		delete(known, name)
		if is == slices.Contains(harmless(), name) {
			t.Errorf("parley %s: add it to commandActs, or to the harmless commands", name)
		}
	}
	for name := range known {
		t.Errorf("%s is an act, but no command", name)
	}
}

func TestCommandsThatChangeABoxAreRecorded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "box")
	s, err := store.Open(t.Context(), dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	environ := []string{"PARLEY_DATA=" + dir, "SUDO_USER=anna", "SUDO_UID=1000",
		"SSH_CONNECTION=192.0.2.7 5 192.0.2.1 22"}
	parley := func(in string, args ...string) {
		t.Helper()
		if code, _, errs := parleyIn(t.Context(), in, environ, args...); code != exitDone {
			t.Fatalf("%q: %d %s", args, code, errs)
		}
	}
	const secret = "a-secret-of-the-test-0123456789"
	parley("", "keys", "create", "--label", "Hall", "--account", "museum")
	keys, err := s.ListKeys(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	parley("", "keys", "list")
	parley("", "keys", "signing-key", "--account", "museum")
	parley(secret, "keys", "signing-key", "--account", "museum", "--set")
	parley("", "voices", "alias", "Gazza", "Heart")
	parley("", "voices", "alias")
	parley("", "voices", "design", "deep,old", "--save", "Sailor", "--account", "museum")
	parley("", "voices", "list", "Sailor", "--account", "museum")
	parley("", "voices", "list", "Sailor", "--account", "museum", "--delete")
	parley("", "kiosk", "--name", "Lobby")
	parley("", "backup", filepath.Join(t.TempDir(), "b.tar.zst"))
	parley("", "keys", "revoke", keys[0].ID)
	var got []string
	err = s.Acts(t.Context(), store.ActFilter{}, func(a store.Act) error {
		got = append(got, a.What)
		if a.Who.Kind != store.ByUser || a.Who.Name != "anna" || a.Who.ID != "1000" || a.Who.Role == "" ||
			!strings.Contains(a.From, "192.0.2.7") {
			t.Errorf("%s was done by %+v from %q", a.What, a.Who, a.From)
		}
		if strings.Contains(strings.Join([]string{a.Text, a.On.ID, a.On.Name, a.Why}, " "), secret) {
			t.Errorf("%s tells a secret: %+v", a.What, a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(got)
	want := "key.create signing_key.read signing_key.renew voice_alias.set voice.save voice.delete screen.code " +
		"box.backup key.revoke"
	if strings.Join(got, " ") != want {
		t.Errorf("recorded are %q, want %q", got, want)
	}
	// A command that fails has done nothing.
	if code, _, _ := parleyIn(context.Background(), "", environ, "keys", "revoke", "nobody"); code == exitDone {
		t.Error("a key that does not exist was revoked")
	}
	_, total, err := s.ActPage(t.Context(), store.ActFilter{}, store.Page{Size: 1})
	if total != len(got) || err != nil {
		t.Errorf("after a command that failed there are %d acts, %v", total, err)
	}
}
