// Package metrics counts what the box does, in the text format of Prometheus. No figure
// holds anything that was said, and labels have known values only, so the number of series
// is bounded.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/appliance/engine"
)

// Metrics are the figures of one box.
type Metrics struct {
	http.Handler
	registry *prometheus.Registry

	requests    *prometheus.CounterVec   // by route, method, status
	latency     *prometheus.HistogramVec // by route, method
	sockets     prometheus.Histogram
	stages      *prometheus.HistogramVec // by stage
	waits       *prometheus.HistogramVec // by priority
	coreSeconds *prometheus.CounterVec   // by priority
	webhooks    *prometheus.CounterVec   // by result
	webhook     prometheus.Histogram
	shed        prometheus.Counter       // webhooks
	plugins     *prometheus.CounterVec   // by plugin, tool, result
	plugin      *prometheus.HistogramVec // by plugin, tool
	speech      speechFigures
	batch       batchFigures
	answers     recent
	late        recent
}

// New returns the figures of a box of that version, all 0.
func New(version string, log *slog.Logger) *Metrics {
	r := prometheus.NewRegistry()
	m := &Metrics{
		registry: r,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_http_requests_total",
			Help: "Requests answered, by the pattern of their path and the class of the status.",
		}, []string{"route", "method", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parley_http_request_seconds", Help: "How long requests took, without WebSockets.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method"}),
		sockets: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "parley_socket_seconds", Help: "How long WebSockets were open that are closed now.",
			Buckets: []float64{1, 5, 15, 60, 180, 600, 1800},
		}),
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parley_turn_stage_seconds", Help: "How long the stages of a spoken turn took. They overlap; " +
				"answer is from the user's last sound to the box's first.",
			Buckets: stageBuckets(),
		}, []string{"stage"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parley_engine_wait_seconds", Help: "How long calls of engines waited for cores, by priority.",
			Buckets: []float64{.0001, .001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5},
		}, []string{"priority"}),
		coreSeconds: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_engine_core_seconds_total", Help: "Core-seconds that engines used, by priority.",
		}, []string{"priority"}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_webhook_attempts_total", Help: "Attempts to deliver a webhook, by result: delivered, " +
				"failed (to be repeated), dead (given up).",
		}, []string{"result"}),
		webhook: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_webhook_delay_seconds",
			Help:    "Delay between an event and its webhook, for webhooks delivered at the first attempt.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60},
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_webhooks_shed_total",
			Help: "Webhooks that were given up because too many of their account were waiting.",
		}),
		plugins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_plugin_calls_total",
			Help: "Calls of the tools and hooks of plugins, by result: answered, or the reason why not.",
		}, []string{"plugin", "tool", "result"}),
		plugin: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "parley_plugin_call_seconds", Help: "How long calls of plugins took.",
			Buckets: []float64{.0001, .0005, .001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"plugin", "tool"}),
	}
	m.speech, m.batch = newSpeechFigures(r), newBatchFigures(r)
	m.register(version)
	m.Handler = promhttp.HandlerFor(r,
		promhttp.HandlerOpts{ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)})
	return m
}

// register registers the figures, and those of the Go runtime and the process.
func (m *Metrics) register(version string) {
	m.registry.MustRegister(
		m.plugins, m.plugin, m.requests, m.latency, m.sockets, m.stages, m.waits, m.coreSeconds,
		m.webhooks, m.webhook, m.shed,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.gauge("parley_build_info", "Always 1; the version of the box is in the label.",
		prometheus.Labels{"version": version, "go": runtime.Version()}, func() float64 {
			return 1
		})
}

// stageBuckets returns buckets from 10 ms to 10 s by the E24 series of preferred numbers,
// which lie a tenth apart, so that a median can be derived from them.
func stageBuckets() []float64 {
	e24 := [...]float64{10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91}
	var all []float64
	for _, per := range []float64{1000, 100, 10} {
		for _, n := range e24 {
			all = append(all, n/per)
		}
	}
	return append(all, 10)
}

// Answered counts a request. route is the pattern of its path, such as "GET
// /v0/evi/configs/{id}", and empty or "/" if no pattern fits.
func (m *Metrics) Answered(route, method string, status int, took time.Duration) {
	if _, path, ok := strings.Cut(route, " "); ok {
		route = path
	}
	if route == "" || route == "/" {
		route = "none"
	}
	route, method = strings.TrimSuffix(route, "{$}"), knownMethod(method)
	m.requests.WithLabelValues(route, method, statusClass(status)).Inc()
	if status == http.StatusSwitchingProtocols {
		m.sockets.Observe(took.Seconds())
		return
	}
	m.latency.WithLabelValues(route, method).Observe(took.Seconds())
}

// knownMethod returns the method, or "other" for a word that a client invented.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return method
	}
	return "other"
}

// statusClass returns 2xx for 204, and "none" if the request was not answered.
func statusClass(status int) string {
	if status < 100 || status > 599 {
		return "none"
	}
	return strconv.Itoa(status/100) + "xx"
}

// Turn records how long a stage of a spoken turn took.
func (m *Metrics) Turn(stage string, took time.Duration) {
	m.stages.WithLabelValues(stage).Observe(took.Seconds())
	switch stage {
	case answerStage:
		m.answers.add(Sample{time.Now(), took})
	case lateStage:
		m.late.add(Sample{time.Now(), took})
	}
}

// WatchEngines reports how the engines share the cores. It is called once.
func (m *Metrics) WatchEngines(g *engine.Gate) {
	m.gauge("parley_engine_cores", "Cores that the engines share.", nil, func() float64 { return float64(g.Cores()) })
	m.gauge("parley_engine_cores_busy", "Cores in use by engines.", nil, func() float64 {
		busy, _ := g.Load()
		return float64(busy)
	})
	for p := engine.Batch; p <= engine.Live; p++ {
		m.gauge("parley_engine_waiting", "Calls of engines that wait for cores, by priority.",
			prometheus.Labels{"priority": p.String()}, func() float64 {
				_, waiting := g.Load()
				return float64(waiting[p])
			})
	}
	g.Observe(func(p engine.Passage) {
		m.waits.WithLabelValues(p.Priority.String()).Observe(p.Waited.Seconds())
		m.coreSeconds.WithLabelValues(p.Priority.String()).Add(p.Held.Seconds() * float64(p.Cores))
	})
}

// WatchChats reports the number of live chats and its limit, and how the accounts share
// them, without names. It is called once.
func (m *Metrics) WatchChats(load func() (chats, accounts, limitPerAccount int), limit int) {
	m.gauge("parley_chats", "Live chats.", nil, func() float64 { n, _, _ := load(); return float64(n) })
	m.gauge("parley_chats_accounts", "Accounts with live chats.", nil, func() float64 {
		_, n, _ := load()
		return float64(n)
	})
	m.gauge("parley_chats_of_one_account", "Live chats of the account with the most.", nil,
		func() float64 {
			_, _, n := load()
			return float64(n)
		})
	m.gauge("parley_chats_limit", "The limit of live chats.", nil, func() float64 { return float64(limit) })
}

// WatchStore reports the numbers of writes and of transactions. It is called once.
func (m *Metrics) WatchStore(written func() (writes, commits uint64)) {
	counter := func(name, help string, value func() float64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, value))
	}
	counter("parley_store_writes_total", "Writes stored.", func() float64 { w, _ := written(); return float64(w) })
	counter("parley_store_commits_total", "Transactions; writes that wait together share one.",
		func() float64 {
			_, c := written()
			return float64(c)
		})
}

// WatchAnswerSound reports how many sentences of approved answers there are, and for how many of them the sound is
// made ahead. It is called once.
func (m *Metrics) WatchAnswerSound(progress func() (made, wanted int)) {
	m.gauge("parley_answer_sentences", "Sentences of approved answers whose sound is made ahead.", nil, func() float64 {
		_, wanted := progress()
		return float64(wanted)
	})
	m.gauge("parley_answer_sentences_made", "How many of parley_answer_sentences have sound.", nil, func() float64 {
		made, _ := progress()
		return float64(made)
	})
}

// Webhook counts an attempt to deliver a webhook, and records the delay after its event if
// the attempt was the first and has delivered the webhook.
func (m *Metrics) Webhook(result string, first bool, after time.Duration) {
	m.webhooks.WithLabelValues(result).Inc()
	if first && after > 0 {
		m.webhook.Observe(after.Seconds())
	}
}

// WebhooksShed counts webhooks that were given up because too many wait.
func (m *Metrics) WebhooksShed(number int) { m.shed.Add(float64(number)) }

// WatchWebhooks reports how many webhooks wait and how many were given up. It is called
// once, with all results of attempts; count is called at each collection.
func (m *Metrics) WatchWebhooks(results []string, count func() (waiting, dead int)) {
	for _, r := range results {
		m.webhooks.WithLabelValues(r)
	}
	m.gauge("parley_webhooks_waiting", "Webhooks that wait for delivery.", nil, func() float64 {
		n, _ := count()
		return float64(n)
	})
	m.gauge("parley_webhooks_dead", "Webhooks that were given up in the last seven days.", nil, func() float64 {
		_, n := count()
		return float64(n)
	})
}

func (m *Metrics) gauge(name, help string, labels prometheus.Labels, value func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels},
		value))
}
