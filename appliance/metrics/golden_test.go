package metrics

import (
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/appliance/chat"
	"parley/appliance/engine"
	"parley/appliance/webhook"
	"parley/internal/golden"
	"parley/plugins/registry"
)

// Dashboards and alarms use these names, types and labels, and the values of labels that
// have few. The figures of the Go runtime and of the process belong to Prometheus.
func TestGoldenMetrics(t *testing.T) {
	m := everySeries(t)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown, lines := map[string]bool{}, []string(nil)
	for _, f := range families {
		shown[f.GetName()] = true
		if !strings.HasPrefix(f.GetName(), "parley_") {
			continue
		}
		for _, series := range f.GetMetric() {
			line := f.GetName() + " " + strings.ToLower(f.GetType().String())
			for _, l := range series.GetLabel() {
				line += " " + l.GetName()
				switch l.GetName() {
				case "heard", "priority", "stage", "state", "taken", "result":
					line += "=" + l.GetValue()
				}
			}
			lines = append(lines, line)
		}
	}
	golden.Names(t, "metrics", lines)
	described := make(chan *prometheus.Desc, 1000)
	m.registry.Describe(described)
	close(described)
	for d := range described {
		name := regexp.MustCompile(`fqName: "(parley_\w+)"`).FindStringSubmatch(d.String())
		if name != nil && !shown[name[1]] {
			t.Errorf("%s has no series here: have everySeries bring one about", name[1])
		}
	}
}

// everySeries returns figures in which something of every kind has happened.
func everySeries(t *testing.T) *Metrics {
	t.Helper()
	m, g := New("1.2.3", slog.New(slog.DiscardHandler)), engine.NewGate(1)
	m.WatchEngines(g)
	m.WatchChats(func() (int, int, int) { return 0, 0, 0 }, 1)
	m.WatchStore(func() (uint64, uint64) { return 0, 0 })
	var results []string
	for _, r := range webhook.Results() {
		results = append(results, string(r))
	}
	m.WatchWebhooks(results, func() (int, int) { return 0, 0 })
	m.WatchServers(func() []engine.ServerState {
		return []engine.ServerState{{Serves: "voice", Server: "http://h", Model: "m", State: engine.Up}}
	})
	m.WatchAnswerSound(func() (int, int) { return 0, 0 })
	m.WatchBatch(func() (int, int) { return 0, 0 })
	var states []string
	for _, s := range registry.States() {
		states = append(states, string(s))
	}
	m.WatchPlugins(states, func() map[string]string { return map[string]string{"hours": "ready"} })
	m.Plugin("hours", "opening_hours", "answered", time.Second)
	m.Answered("GET /", "GET", 200, time.Second)
	for _, s := range []chat.Stage{
		chat.StageSilence, chat.StageHear, chat.StageThink, chat.StageSpeak, chat.StageAnswer, chat.StageLate,
		chat.StageFeel,
	} {
		m.Turn(string(s), time.Second)
	}
	leave, err := g.Enter(t.Context(), engine.Live.Urgency(), 1)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	return m
}
