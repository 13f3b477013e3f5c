package registry

import (
	"errors"
	"strings"
	"testing"
	"time"

	"parley/store"
)

func wantState(t *testing.T, s *Registry, want State) Info {
	t.Helper()
	i, err := s.Show(t.Context(), "tool")
	must(t, err)
	if i.State != want {
		t.Errorf("it is %s (%s), want %s", i.State, i.Why, want)
	}
	return i
}

// observed counts the outcomes of calls.
func observed(outcomes map[string]int) func(*Parts) {
	return func(p *Parts) { p.Observe = func(_, _, outcome string, _ time.Duration) { outcomes[outcome]++ } }
}

func TestThreeFailuresInARowPauseAPlugin(t *testing.T) {
	data := t.TempDir()
	outcomes := map[string]int{}
	s := box(t, data, observed(outcomes))
	other := beside(t, data)
	install(t, s, fileOf(t, described("1.0.0"), tool(t, "one")))
	fail := func() error { _, err := do(s, "fail", "no"); return err }
	for range failuresInARow - 1 {
		if err := fail(); err == nil || err.Error() != "no" {
			t.Fatal(err)
		}
	}
	wantSaid(t, s, "a", "one a") // not in a row
	for range failuresInARow {
		wantState(t, s, Ready)
		if err := fail(); err == nil || err.Error() != "no" {
			t.Fatal(err)
		}
	}
	if i := wantState(t, other, Broken); i.Why != "no" || i.RetryMS-i.BrokenMS < firstPause.Milliseconds()-1000 {
		t.Errorf("the plugin is shown as %+v", i.Plugin)
	}
	_, err := do(s, "", "b")
	if broken, ok := errors.AsType[ErrBroken](err); !ok || !strings.Contains(broken.Error(), "3 times in a row") {
		t.Errorf("called again, it answers %v", err)
	}
	if outcomes["failed"] != 2*failuresInARow-1 || outcomes["answered"] != 1 || outcomes["broken"] != 1 {
		t.Errorf("the outcomes are %v", outcomes)
	}
	// The operator may call it; the outcome is not counted.
	r, err := s.Try(t.Context(), Origin{}, "tool", "do", []byte(`{"text":"c"}`))
	if err != nil || r.Content != "one c" {
		t.Errorf("the operator's call: %q, %v", r.Content, err)
	}
	wantState(t, s, Broken)

	// After the pause, one call is tried.
	over := func() {
		must(t, s.Records.MarkPluginBroken(t.Context(), "tool", mustShow(t, s).Digest, time.Now().UnixMilli()-1, "no"))
	}
	over()
	if err := fail(); err == nil || err.Error() != "no" {
		t.Errorf("the trial was not made: %v", err)
	}
	if i := wantState(t, s, Broken); i.RetryMS <= time.Now().UnixMilli() {
		t.Error("the plugin failed again, and is still called")
	}
	over()
	wantSaid(t, s, "d", "one d")
	wantState(t, s, Ready)
	for range failuresInARow - 1 { // the count starts again
		_ = fail()
	}
	wantState(t, s, Ready)
	_ = fail()
	wantState(t, s, Broken)
	must(t, other.Grant(t.Context(), "tool", []string{"none"})) // a change counts as a repair
	wantState(t, s, Ready)
	wantSaid(t, s, "e", "one e")
}

func mustShow(t *testing.T, s *Registry) Info {
	t.Helper()
	i, err := s.Show(t.Context(), "tool")
	must(t, err)
	return i
}

func TestPausesGrowWithEachFailure(t *testing.T) {
	now := time.Now()
	for since, want := range map[time.Duration]time.Duration{0: firstPause, time.Second: firstPause,
		time.Minute: time.Minute, time.Hour: longestPause, -time.Hour: firstPause} {
		if got := pause(now.Add(-since).UnixMilli(), now); (got - want).Abs() > time.Second {
			t.Errorf("after %v: %v, want %v", since, got, want)
		}
	}
	if got := pause(0, now); got != firstPause {
		t.Errorf("the first pause: %v", got)
	}
	// If the clock was set back by a day, the plugin is not paused for a day.
	p := &plugin{Running: Running{Plugin: store.Plugin{BrokenMS: 1, RetryMS: now.Add(24 * time.Hour).UnixMilli()}}}
	if _, err := new(breaker).enter(p, now); err != nil {
		t.Error(err)
	}
}
