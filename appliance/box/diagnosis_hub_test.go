package box

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/firmware/doctor"
	"parley/store"
)

func TestTheDoctorExaminesAHubAndNotModelsThatItDoesNotHave(t *testing.T) {
	data := t.TempDir()
	s, err := store.Open(t.Context(), data, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := s.AddHubBox(t.Context(), store.HubBox{Name: name, AddedMS: 1}); err != nil {
			t.Fatal(err)
		}
	}
	state := []byte(`{"running":3,"wanted":4,"why":"no such voice"}`)
	if err := s.SawHubBox(t.Context(), "a", state, time.Now().UnixMilli()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(data, "fleet", "trust.json")
	if err := os.MkdirAll(filepath.Dir(keys), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(keys, []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Sources{Flags: map[string]string{
		"data": data, "listen": "127.0.0.1:0", "hub.listen": "127.0.0.1:0", "packs": t.TempDir(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Diagnose(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]doctor.Finding{}
	for _, f := range d.Findings {
		found[f.Part] = f
		if strings.HasPrefix(f.Part, "pack") {
			t.Errorf("a hub has no packs: %+v", f)
		}
	}
	for part, want := range map[string]doctor.Health{
		"fleet keys": doctor.Problem, "box a": doctor.Warning, "boxes": doctor.Warning, "NATS server": doctor.OK,
	} {
		if found[part].Health != want {
			t.Errorf("%s is %+v, want %s", part, found[part], want)
		}
	}
	if !strings.Contains(found["boxes"].What, "b") || !strings.Contains(found["box a"].What, "no such voice") {
		t.Errorf("%+v, %+v", found["boxes"], found["box a"])
	}
}
