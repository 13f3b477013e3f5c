package hub

import (
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"parley/fleet"
	"parley/store"
)

// A caller with a config goes to the boxes that run it: those that are to run something newer still do, and those that
// are to run it do not yet.
func TestABoxHasTheConfigsOfWhatItRuns(t *testing.T) {
	records, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	h := &Hub{
		Parts:   Parts{Records: records, Log: slog.New(slog.DiscardHandler)},
		now:     time.Now,
		wake:    make(chan struct{}, 1),
		boxes:   map[string]*liveBox{"a": {name: "a"}, "b": {name: "b"}},
		current: map[string]plan{},
	}
	at := time.Now()
	says := func(box string, running int64) {
		at = at.Add(time.Second)
		h.sawState(fleet.State{Box: box, Running: running}, at)
	}
	check := func(config string, rolledOut bool, want ...string) {
		t.Helper()
		names, known := h.BoxesOf(config)
		if got := slices.Sorted(maps.Keys(names)); known != rolledOut || !slices.Equal(got, want) {
			t.Errorf("%s runs on %v (rolled out: %v)", config, got, known)
		}
	}
	check("guide", false)
	h.setPlan("a", plan{revision: 1})
	h.setPlan("b", plan{revision: 1})
	says("a", 1)
	says("b", 1)
	guide := map[string][]string{"museum": {"guide"}}
	h.setPlan("a", plan{revision: 2, configs: guide})
	check("guide", true)
	says("a", 2)
	check("guide", true, "a")
	h.setPlan("a", plan{revision: 3, configs: map[string][]string{"museum": {"guide", "shop"}}})
	check("guide", true, "a")
	check("shop", true)
	says("a", 3)
	check("shop", true, "a")
	h.setPlan("b", plan{revision: 2, configs: guide})
	says("b", 1)
	check("guide", true, "a")
	if all := h.Boxes(); len(all) != 2 {
		t.Error(all)
	}
}
