package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Plugin notes a call of a plugin that is installed: of which tool or hook, and how
// it ended. One that was not made, because the plugin is left alone, took no time.
func (m *Metrics) Plugin(plugin, tool, result string, took time.Duration) {
	m.plugins.WithLabelValues(plugin, tool, result).Inc()
	if took > 0 {
		m.plugin.WithLabelValues(plugin, tool).Observe(took.Seconds())
	}
}

// WatchPlugins shows which plugins are installed, and in which of the states each
// is. list is asked for each look. It is called once.
func (m *Metrics) WatchPlugins(states []string, list func() map[string]string) {
	m.registry.MustRegister(plugins{prometheus.NewDesc("parley_plugin_state", "1 for the state that an installed plugin is in, 0 for the others; broken is that it failed in a row and is left alone.",
		[]string{"plugin", "state"}, nil), states, list})
}

// plugins collects the states of plugins, which come and go.
type plugins struct {
	desc   *prometheus.Desc
	states []string
	list   func() map[string]string
}

func (p plugins) Describe(to chan<- *prometheus.Desc) { to <- p.desc }

func (p plugins) Collect(to chan<- prometheus.Metric) {
	for name, state := range p.list() {
		for _, s := range p.states {
			is := 0.0
			if s == state {
				is = 1
			}
			to <- prometheus.MustNewConstMetric(p.desc, prometheus.GaugeValue, is, name, s)
		}
	}
}
