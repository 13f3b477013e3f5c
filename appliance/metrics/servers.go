package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/appliance/engine"
)

// servers collects how the servers are that run engines. They are those of the settings, so the number
// of series is bounded.
type servers struct {
	state, calls, answers, failures, latency *prometheus.Desc
	list                                     func() []engine.ServerState
}

// WatchServers reports how the servers are that run engines. It is called once; list is called at each
// collection.
func (m *Metrics) WatchServers(list func() []engine.ServerState) {
	describe := func(name, help string, more ...string) *prometheus.Desc {
		return prometheus.NewDesc("parley_engine_server_"+name, help,
			append([]string{"serves", "server", "model"}, more...), nil)
	}
	m.registry.MustRegister(servers{
		state: describe("state", "1 for the state that a server with engines is in, 0 for the others: up, busy (it "+
			"said that it is overloaded) or down.", "state"),
		calls:    describe("calls", "Calls of a server with engines that are in flight."),
		answers:  describe("answers_total", "Calls that a server with engines has begun to answer."),
		failures: describe("failures_total", "Calls that a server with engines has failed."),
		latency:  describe("latency_seconds", "How long a server with engines takes until its first output, lately."),
		list:     list,
	})
}

func (s servers) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.state, s.calls, s.answers, s.failures, s.latency} {
		to <- d
	}
}

func (s servers) Collect(to chan<- prometheus.Metric) {
	for _, one := range s.list() {
		send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, more ...string) {
			to <- prometheus.MustNewConstMetric(d, kind, value, append([]string{one.Serves, one.Server, one.Model},
				more...)...)
		}
		for _, state := range engine.ServerStates() {
			is := 0.0
			if one.State == state {
				is = 1
			}
			send(s.state, prometheus.GaugeValue, is, state)
		}
		send(s.calls, prometheus.GaugeValue, float64(one.Calls))
		send(s.answers, prometheus.CounterValue, float64(one.Answers))
		send(s.failures, prometheus.CounterValue, float64(one.Failures))
		send(s.latency, prometheus.GaugeValue, one.Latency.Seconds())
	}
}
