package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Plugin counts a call of a tool or hook of an installed plugin, by result. took is 0 for a
// call that was not made because the plugin is suspended after failures.
func (m *Metrics) Plugin(plugin, tool, result string, took time.Duration) {
	m.plugins.WithLabelValues(plugin, tool, result).Inc()
	if took > 0 {
		m.plugin.WithLabelValues(plugin, tool).Observe(took.Seconds())
	}
}

// WatchPlugins reports which of the states each installed plugin is in. It is called once;
// list is called at each collection.
func (m *Metrics) WatchPlugins(states []string, list func() map[string]string) {
	m.registry.MustRegister(plugins{prometheus.NewDesc("parley_plugin_state", "1 for the state that an installed "+
		"plugin is in, 0 for the others; a broken plugin failed repeatedly and is not called for a while.",
		[]string{"plugin", "state"}, nil), states, list})
}

// plugins collects the states of the plugins that are installed at that time.
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

// Calls are the calls of one tool or hook of a plugin.
type Calls struct {
	Tool        string
	Results     map[string]int64 // number of calls by result
	Median, P95 time.Duration    // of the calls that were made, rounded up to a bucket
}

// PluginCalls returns the calls of a plugin, by tool and hook.
func (m *Metrics) PluginCalls(plugin string) (all []Calls, err error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	of := func(metric *dto.Metric) (calls *Calls, result string) {
		tool := ""
		for _, l := range metric.GetLabel() {
			switch l.GetName() {
			case "plugin":
				if l.GetValue() != plugin {
					return nil, ""
				}
			case "tool":
				tool = l.GetValue()
			case "result":
				result = l.GetValue()
			}
		}
		for i := range all {
			if all[i].Tool == tool {
				return &all[i], result
			}
		}
		all = append(all, Calls{Tool: tool, Results: map[string]int64{}})
		return &all[len(all)-1], result
	}
	for _, f := range families {
		for _, metric := range f.GetMetric() {
			switch f.GetName() {
			case "parley_plugin_calls_total":
				if calls, result := of(metric); calls != nil {
					calls.Results[result] += int64(metric.GetCounter().GetValue())
				}
			case "parley_plugin_call_seconds":
				if calls, _ := of(metric); calls != nil {
					calls.Median, calls.P95 = quantile(metric.GetHistogram(), .5), quantile(metric.GetHistogram(), .95)
				}
			}
		}
	}
	return all, nil
}

// quantile returns the upper bound of the bucket that holds the quantile. The last bucket
// has no upper bound; there quantile returns the lower one.
func quantile(h *dto.Histogram, q float64) (end time.Duration) {
	for _, b := range h.GetBucket() {
		if !math.IsInf(b.GetUpperBound(), 1) {
			end = time.Duration(b.GetUpperBound() * float64(time.Second))
		}
		if float64(b.GetCumulativeCount()) >= q*float64(h.GetSampleCount()) {
			break
		}
	}
	return end
}
