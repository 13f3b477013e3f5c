package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"parley/appliance/bench"
)

func TestImpossibleBenchmarksAreMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"bench", "stt", "--prompts", "0"}, "prompts is 0"},
		{[]string{"bench", "llm", "--rounds", "many"}, "--rounds"},
		{[]string{"bench", "tts", "--profile", "huge"}, "default, small, test, full"},
		{[]string{"bench", "talk", "--chats", "1000"}, "1 to 100"},
		{[]string{"bench", "talk", "--chats", "1,0"}, "chats is 0"},
		{[]string{"bench", "talk", "--with", "luck"}, "interim, tools"},
		{[]string{"bench", "newcomer", "--rounds", "11"}, "1 to 10"},
		{[]string{"bench", "turns", "--modes", "800,quick"}, `"quick"`},
		{[]string{"bench", "turns", "--sentences", "0"}, "sentences is 0"},
		{[]string{"bench", "turns", "--url", "ws://127.0.0.1:1"}, "parley keys create"},
		{[]string{"bench", "talk", "--url", "ftp://x"}, "ws://"},
		{[]string{"bench", "talk", "--url", "ws://127.0.0.1:1"}, "parley keys create"},
		{[]string{"bench", "answers", "--half", "better"}, "tuned, held and self"},
		{[]string{"bench", "answers", "--server", "http://127.0.0.1:1/v1"}, "belong together"},
		{[]string{"bench", "echo", "--drift", "1s"}, "1m to 2h"},
		{[]string{"bench", "everything"}, "everything"},
	} {
		code, out, errs := parley(t, "", c.args...)
		if code != exitMisuse || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("parley %s: code %d, out %q, err %q; want 2 and %q", strings.Join(c.args, " "), code, out, errs,
				c.want)
		}
	}
}

func TestABenchmarkThatCannotMeasureFails(t *testing.T) {
	for want, args := range map[string][]string{
		"parley packs pull": {"bench", "stt", "--packs", t.TempDir()},
		"no recordings in":  {"bench", "talk", "--recordings", t.TempDir()},
		"does it run?":      {"bench", "talk", "--url", "ws://127.0.0.1:1", "--key", "k"},
	} {
		if code, out, errs := parley(t, "", args...); code != exitFailed || out != "" || !strings.Contains(errs, want) {
			t.Errorf("parley %s: code %d, out %q, err %q; want 1 and %q", strings.Join(args, " "), code, out, errs,
				want)
		}
	}
}

func TestABenchmarkPrintsOneObjectOrATable(t *testing.T) {
	args := []string{"bench", "stt", "--prompts", "2", "--rounds", "1", "--profile", "test"}
	code, out, errs := parley(t, "", append(args, "--json")...)
	var r struct {
		Bench   string
		Machine map[string]any
		Figures []struct {
			Name, Unit string
			Value      *float64
		}
	}
	if err := json.Unmarshal([]byte(out), &r); code != exitDone || err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("code %d, %v, out %q, err %q", code, err, out, errs)
	}
	if r.Bench != "stt" || r.Machine["profile"] != "test" || len(r.Figures) < 8 || r.Figures[0].Name != "word_error" ||
		r.Figures[0].Value == nil || r.Figures[0].Unit != "%" {
		t.Errorf("%+v", r)
	}
	// The same measurement, without --json.
	var measured bench.Report
	if err := json.Unmarshal([]byte(out), &measured); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	again := func(context.Context, bench.Options) (bench.Report, error) { return measured, nil }
	if err := (&console{out: &table}).report(t.Context(), false, again, bench.Options{}); err != nil ||
		!strings.Contains(table.String(), "FIGURE") || !strings.Contains(table.String(), "transcribe_10s") {
		t.Errorf("%v, %q", err, table.String())
	}
}
