package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"parley/appliance/audio"
	"parley/appliance/engine/espeak"
	"parley/appliance/media"
)

// TestMain is also the child process that runs eSpeak NG.
func TestMain(m *testing.M) {
	espeak.Main()
	audio.Main()
	media.Main()
	os.Exit(m.Run())
}

func parleyBench(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e strings.Builder
	code = run(t.Context(), args, &o, &e)
	return code, o.String(), e.String()
}

func TestImpossibleBenchmarksAreMisuse(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"stt --prompts 0", "prompts is 0"},
		{"llm --rounds many", "--rounds"},
		{"talk --parley /none", "--parley: stat /none"},
		{"talk --chats 1,0 --parley main.go", "chats is 0"},
		{"answers --half better", "open and held"},
		{"everything", "everything"},
	} {
		code, out, errs := parleyBench(t, strings.Fields(c.args)...)
		if code != 2 || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("parley-bench %s: code %d, out %q, err %q; want 2 and %q", c.args, code, out, errs, c.want)
		}
	}
}

func TestABenchmarkThatCannotMeasureFails(t *testing.T) {
	t.Setenv("PARLEY_PACKS", t.TempDir())
	if code, out, errs := parleyBench(t, "llm"); code != 1 || out != "" ||
		!strings.Contains(errs, "parley packs pull") {
		t.Errorf("code %d, out %q, err %q; want 1 and parley packs pull", code, out, errs)
	}
}

func TestABenchmarkPrintsOneObject(t *testing.T) {
	t.Setenv("PARLEY_PROFILE", "test")
	code, out, errs := parleyBench(t, "stt", "--prompts", "2", "--rounds", "1", "--json")
	var r struct {
		Bench   string
		Machine map[string]any
		Figures []struct {
			Name, Unit string
			Value      *float64
		}
	}
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("code %d, %v, out %q, err %q", code, err, out, errs)
	}
	if r.Bench != "stt" || r.Machine["profile"] != "test" || len(r.Figures) < 8 ||
		r.Figures[0].Name != "word_error" || r.Figures[0].Value == nil || r.Figures[0].Unit != "%" {
		t.Errorf("%+v", r)
	}
}
