package appliance

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/appliance/config"
	"parley/store"
)

// actsIn returns the acts in a store, newest first, as name: text.
func actsIn(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	err := s.Acts(t.Context(), store.ActFilter{}, func(a store.Act) error {
		all = append(all, fmt.Sprintf("%s %s %s: %s", a.Who.Kind, a.What, a.On.Name, a.Text))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestChangedSettingsAreRecordedAtTheNextStart(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	start := func(flags map[string]string) []string {
		cfg, err := config.Load(config.Sources{Flags: flags})
		if err != nil {
			t.Fatal(err)
		}
		a := &appliance{cfg: cfg, records: records, log: slog.New(slog.DiscardHandler)}
		a.recordSettings(t.Context())
		return actsIn(t, records)
	}
	data := t.TempDir()
	if got := start(map[string]string{"data": data}); len(got) != 0 {
		t.Errorf("the first start has recorded %q", got)
	}
	if got := start(map[string]string{"data": data}); len(got) != 0 {
		t.Errorf("a start with the same settings has recorded %q", got)
	}
	changed := map[string]string{"data": data, "listen": "127.0.0.1:9999",
		"web_search.url": "http://user:hidden-password@127.0.0.1/"}
	got := start(changed)
	if len(got) != 2 || got[1] != `box settings.change listen: started with the setting listen "127.0.0.1:9999", `+
		`before it was "127.0.0.1:8080"` || strings.Contains(got[0], "hidden") {
		t.Errorf("recorded are %q", got)
	}
	if got := start(changed); len(got) != 2 {
		t.Errorf("the next start has recorded %q", got[0])
	}
}

func TestRetentionIsRecordedOnceADay(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	now, log := time.Now(), slog.New(slog.DiscardHandler)
	swept := newSweptRecord(now)
	for hour := range 47 {
		swept.add("chats", 2)
		swept.add("jobs", 0)
		swept.record(records, log, now.Add(time.Duration(hour)*time.Hour), false)
	}
	if got := actsIn(t, records); len(got) != 1 || got[0] != "box chats.expire : deleted what had passed its "+
		"retention: 50 chats" {
		t.Errorf("recorded are %q", got)
	}
	swept.record(records, log, now, true)
	if got := actsIn(t, records); len(got) != 2 {
		t.Errorf("when the box stops, recorded are %q", got)
	}
}
