package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func line(plugin, text string) PluginLine {
	return PluginLine{Plugin: plugin, AtMS: 5, Level: "info", Tool: "t", Text: text}
}

func wantLog(t *testing.T, s *Store, after int64, limit int, want ...string) (end int64) {
	t.Helper()
	lines, end, err := s.PluginLog(t.Context(), "hours", after, limit)
	must(t, err)
	var got []string
	for _, l := range lines {
		got = append(got, l.Text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("behind %d the log is %q, want %q", after, got, want)
	}
	return end
}

func TestLogIsReadAfterAPosition(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	if end := wantLog(t, s, 0, 9); end != 0 {
		t.Errorf("a log without lines ends at %d", end)
	}
	must(t, s.LogPlugins(t.Context(), []PluginLine{line("hours", "a"), line("gone", "x"), line("hours", "b")}))
	wantLog(t, s, 0, 1, "b")
	end := wantLog(t, s, 0, 9, "a", "b")
	wantLog(t, s, end, 9)
	must(t, s.LogPlugins(t.Context(), []PluginLine{line("hours", "c")}))
	wantLog(t, s, end, 9, "c")
	must(t, s.RemovePlugin(t.Context(), "hours"))
	if _, _, err := s.PluginLog(t.Context(), "hours", 0, 9); !errors.Is(err, ErrNotFound) {
		t.Errorf("the log of no plugin: %v", err)
	}
	must(t, s.InstallPlugin(t.Context(), hours()))
	wantLog(t, s, 0, 9) // what it logged went with it
	must(t, s.LogPlugins(t.Context(), []PluginLine{line("hours", "d")}))
	wantLog(t, s, end, 9, "d") // for a follower of the removed log
}

func TestLogRetainsItsNewestLines(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	const each = 1000
	for n := range 3 * maxPluginLog / each / 100 {
		var lines []PluginLine
		for i := range 100 {
			lines = append(lines, line("hours", fmt.Sprint(n*100+i, strings.Repeat(" ", each))))
		}
		must(t, s.LogPlugins(t.Context(), lines))
	}
	lines, _, err := s.PluginLog(t.Context(), "hours", 0, 1_000_000)
	must(t, err)
	size := 0
	for i, l := range lines {
		size += l.Bytes()
		if i > 0 && number(t, l) != number(t, lines[i-1])+1 {
			t.Fatalf("behind %.9q comes %.9q", lines[i-1].Text, l.Text)
		}
	}
	newest := 3*maxPluginLog/each/100*100 - 1
	if size > maxPluginLog+2*each || size < maxPluginLog-2*each || number(t, lines[len(lines)-1]) != newest {
		t.Errorf("stored are %d bytes in %d lines, the last of them %.9q", size, len(lines), lines[len(lines)-1].Text)
	}
}

func number(t *testing.T, l PluginLine) (n int) {
	t.Helper()
	_, err := fmt.Sscan(l.Text, &n)
	must(t, err)
	return n
}

// Lines that any process writes, and the removal of the plugin, wake a follower.
func TestNewLinesWakeFollowersOfTheLog(t *testing.T) {
	dir := t.TempDir()
	box, other := openStore(t, dir), joinStore(t, dir)
	must(t, box.InstallPlugin(t.Context(), hours()))
	for _, follower := range []*Store{box, other} {
		changed, stop, err := follower.WatchPluginLogs()
		must(t, err)
		for what, do := range map[string]func() error{
			"the box":         func() error { return box.LogPlugins(t.Context(), []PluginLine{line("hours", "a")}) },
			"another process": func() error { return other.LogPlugins(t.Context(), []PluginLine{line("hours", "a")}) },
			"its end":         func() error { _ = box.RemovePlugin(t.Context(), "hours"); return nil },
		} {
			must(t, do())
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatalf("no follower was woken by %s", what)
			}
		}
		stop()
	}
}

func TestOldLinesAreDeletedWithTheChats(t *testing.T) {
	s := openStore(t, t.TempDir())
	must(t, s.InstallPlugin(t.Context(), hours()))
	old, fresh := line("hours", "old"), line("hours", "new")
	fresh.AtMS = 100
	must(t, s.LogPlugins(t.Context(), []PluginLine{old, fresh}))
	end := wantLog(t, s, 0, 9, "old", "new")
	must(t, s.Tidy(t.Context(), 0))
	wantLog(t, s, 0, 9, "old", "new")
	must(t, s.Tidy(t.Context(), 50))
	wantLog(t, s, 0, 9, "new")
	must(t, s.Tidy(t.Context(), 500))
	must(t, s.LogPlugins(t.Context(), []PluginLine{line("hours", "newest")}))
	wantLog(t, s, end, 9, "newest") // positions go on
}
