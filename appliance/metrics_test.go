package appliance

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"parley/store"
)

func turnsAreCountedInMetricsForTheOperator(t *testing.T, b *runningBox) {
	c := b.call(t, linear16)
	stop := make(chan struct{})
	defer close(stop)
	c.say(recordingPCM(t, question), stop)
	c.until("assistant_end", 1, waitLimit)
	status, text := b.ask(t, b.key, http.MethodGet, "/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	for _, line := range []string{
		`parley_chats [1-9]`, `parley_turn_stage_seconds_count{stage="answer"} [1-9]`,
		`parley_turn_stage_seconds_count{stage="hear"} [1-9]`,
		`parley_store_commits_total [1-9]`, `parley_engine_wait_seconds_count{priority="live"} [1-9]`,
		`parley_engine_cores [1-9]`,
		`go_goroutines [1-9]`, `process_resident_memory_bytes [1-9]`,
	} {
		if !regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(line)).MatchString(text) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	records, err := store.Join(t.Context(), b.cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	guest, err := records.CreateKey(t.Context(), store.NewKey{Account: "guest"})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"": 401, "wrong": 401, guest.APIKey: 403} {
		if status, text := b.ask(t, key, http.MethodGet, "/metrics", ""); status != want ||
			strings.Contains(text, "parley_") {
			t.Errorf("with key %q: %d, want %d", key, status, want)
		}
	}
}
