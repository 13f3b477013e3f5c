package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// batchFigures are the figures of analysis jobs.
type batchFigures struct {
	ended   *prometheus.CounterVec // by state
	seconds prometheus.Counter
}

func newBatchFigures(r *prometheus.Registry) batchFigures {
	b := batchFigures{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_batch_jobs_ended_total",
			Help: "Analysis jobs that have ended, by state: COMPLETED or FAILED.",
		}, []string{"state"}),
		seconds: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_batch_run_seconds_total",
			Help: "How long analysis jobs ran, also those that a stop of the box has interrupted.",
		}),
	}
	for _, state := range []string{"COMPLETED", "FAILED"} {
		b.ended.WithLabelValues(state)
	}
	r.MustRegister(b.ended, b.seconds)
	return b
}

// BatchRun records a run of an analysis job and the state in which it left the job.
func (m *Metrics) BatchRun(state string, took time.Duration) {
	m.batch.seconds.Add(took.Seconds())
	if state == "COMPLETED" || state == "FAILED" {
		m.batch.ended.WithLabelValues(state).Inc()
	}
}

// WatchBatch reports how many analysis jobs wait and run. It is called once; count is
// called at each collection.
func (m *Metrics) WatchBatch(count func() (queued, running int)) {
	m.gauge("parley_batch_jobs", "Analysis jobs that have not ended, by state.",
		prometheus.Labels{"state": "QUEUED"}, func() float64 {
			n, _ := count()
			return float64(n)
		})
	m.gauge("parley_batch_jobs", "Analysis jobs that have not ended, by state.",
		prometheus.Labels{"state": "IN_PROGRESS"}, func() float64 {
			_, n := count()
			return float64(n)
		})
}
