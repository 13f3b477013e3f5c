package bench

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestAPIMeasuresEveryKindOfCall(t *testing.T) {
	o := Defaults()
	o.Rounds, o.Log = 1, slog.New(slog.DiscardHandler)
	r, err := measureAPI(t.Context(), o, 20*time.Millisecond, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Figure{}
	for _, f := range r.Figures {
		found[f.Name] = f
	}
	reads := strings.Fields(
		"get_prompt get_tool get_config list_prompts list_configs list_chats list_chat_groups list_chat_events")
	for _, name := range append(reads,
		strings.Fields("create_prompt create_config describe_prompt add_prompt_version")...) {
		if f := found[name]; f.Unit != "1/s" || f.Value <= 0 || f.Yardstick == nil || *f.Yardstick <= 0 ||
			*f.Ratio <= 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range append(reads, "read") {
		if f := found[name+"_p95"]; f.Unit != "ms" || f.Value <= 0 || *f.Yardstick != readLimit95 {
			t.Errorf("%s_p95: %+v", name, f)
		}
	}
	if len(r.Figures) != 2*len(reads)+5 {
		t.Errorf("%d figures", len(r.Figures))
	}
}

// The API and the plain SQL return the same rows, and a refused request is an error, not
// a fast answer.
func TestBothSidesOfAnAPICallSucceedOrFail(t *testing.T) {
	s, err := startAPI(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := func(row apiRow) error {
		call, done, err := s.calls(row)
		if err != nil {
			t.Fatal(err)
		}
		return errors.Join(call(t.Context()), done())
	}
	for _, row := range append(s.reads(), s.writes()...) {
		if err := errors.Join(ask(row), row.plain(t.Context())); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	s.prompt.Number = 999
	nothing := s.reads()[0]
	if err := ask(nothing); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("over HTTP: %v, want 404", err)
	}
	if err := nothing.plain(t.Context()); err == nil {
		t.Error("straight: found what is not there")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.rate(ended, time.Second, s.reads()[1], s.calls); !errors.Is(err, context.Canceled) {
		t.Errorf("called off: %v", err)
	}
}
