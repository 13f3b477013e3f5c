package metrics

import (
	"log/slog"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/appliance/engine"
)

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	return w.Body.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func TestRequestsAreCountedByRouteAndClass(t *testing.T) {
	m := New("1.2.3", slog.New(slog.DiscardHandler))
	m.Answered("GET /v0/evi/configs/{id}", "GET", 200, 3*time.Millisecond)
	m.Answered("GET /v0/evi/configs/{id}", "HEAD", 404, time.Millisecond)
	m.Answered("GET /{$}", "GET", 200, time.Millisecond)
	m.Answered("GET /v0/evi/chat", "GET", 101, time.Minute)
	text := scrape(t, m)
	has(t, text,
		`parley_http_requests_total{method="GET",route="/v0/evi/configs/{id}",status="2xx"} 1`,
		`parley_http_requests_total{method="HEAD",route="/v0/evi/configs/{id}",status="4xx"} 1`,
		`parley_http_requests_total{method="GET",route="/",status="2xx"} 1`,
		`parley_http_request_seconds_bucket{method="GET",route="/v0/evi/configs/{id}",le="0.0025"} 0`,
		`parley_http_request_seconds_bucket{method="GET",route="/v0/evi/configs/{id}",le="0.005"} 1`,
		`parley_socket_seconds_sum 60`,
	)
	if !strings.Contains(text, `parley_build_info{go="go`) || !strings.Contains(text, `version="1.2.3"} 1`) ||
		strings.Contains(text, `request_seconds_count{method="GET",route="/v0/evi/chat"`) {
		t.Errorf("in\n%s", text)
	}
}

func TestUnknownRoutesAndMethodsMakeNoSeries(t *testing.T) {
	m := New("", slog.New(slog.DiscardHandler))
	for _, method := range []string{"BREW", "GET\n", strings.Repeat("X", 9000)} {
		for _, route := range []string{"", "/"} {
			for _, status := range []int{0, 7, 404, 1000} {
				m.Answered(route, method, status, 0)
			}
		}
	}
	lines := regexp.MustCompile(`(?m)^parley_http_requests_total\{.*$`).FindAllString(scrape(t, m), -1)
	if len(lines) != 2 || !strings.Contains(lines[0], `method="other",route="none"`) {
		t.Errorf("%q", lines)
	}
}

func TestMetricsCountTheWorkOfABusyBox(t *testing.T) {
	m := New("", slog.New(slog.DiscardHandler))
	g := engine.NewGate(4)
	m.WatchEngines(g)
	m.WatchChats(func() (int, int, int) { return 5, 3, 2 }, 8)
	m.WatchStore(func() (uint64, uint64) { return 70, 10 })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			leave, err := g.Enter(t.Context(), engine.Speculative.Urgency(), 2)
			if err != nil {
				t.Error(err)
				return
			}
			leave()
			m.Turn("answer", 700*time.Millisecond)
		})
	}
	all.Wait()
	leave, err := g.Enter(t.Context(), engine.Live.Urgency(), 3)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	has(t, scrape(t, m),
		`parley_engine_cores 4`, `parley_engine_cores_busy 3`, `parley_engine_waiting{priority="live"} 0`,
		`parley_engine_wait_seconds_count{priority="speculative"} 20`,
		`parley_turn_stage_seconds_bucket{stage="answer",le="0.68"} 0`,
		`parley_turn_stage_seconds_bucket{stage="answer",le="0.75"} 20`,
		`parley_turn_stage_seconds_count{stage="answer"} 20`,
		`parley_chats 5`, `parley_chats_accounts 3`, `parley_chats_of_one_account 2`, `parley_chats_limit 8`,
		`parley_store_writes_total 70`, `parley_store_commits_total 10`,
	)
}

func TestInstalledPluginsAreCounted(t *testing.T) {
	m := New("", slog.New(slog.DiscardHandler))
	states := map[string]string{"hours": "broken"}
	m.WatchPlugins([]string{"ready", "broken"}, func() map[string]string { return states })
	m.Plugin("hours", "opening_hours", "answered", 3*time.Millisecond)
	m.Plugin("hours", "opening_hours", "broken", 0)
	has(t, scrape(t, m),
		`parley_plugin_calls_total{plugin="hours",result="answered",tool="opening_hours"} 1`,
		`parley_plugin_calls_total{plugin="hours",result="broken",tool="opening_hours"} 1`,
		`parley_plugin_call_seconds_count{plugin="hours",tool="opening_hours"} 1`,
		`parley_plugin_state{plugin="hours",state="broken"} 1`, `parley_plugin_state{plugin="hours",state="ready"} 0`,
	)
	m.Plugin("other", "opening_hours", "answered", time.Second)
	calls, err := m.PluginCalls("hours")
	if err != nil || len(calls) != 1 || calls[0].Tool != "opening_hours" || calls[0].Results["answered"] != 1 ||
		calls[0].Results["broken"] != 1 || calls[0].Median != 5*time.Millisecond || calls[0].P95 != 5*time.Millisecond {
		t.Errorf("%+v, %v", calls, err)
	}
	states = nil
	if strings.Contains(scrape(t, m), "parley_plugin_state{") {
		t.Error("it shows a plugin that is gone")
	}
}
