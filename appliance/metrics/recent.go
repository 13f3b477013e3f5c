package metrics

import (
	"sync"
	"time"
)

// recentMax is how many of the newest answers are remembered, and recentLife for
// how long: enough for a 95th percentile, and about how the box does now.
const (
	recentMax  = 512
	recentLife = time.Hour
)

// Sample is the duration of something that ended at a time.
type Sample struct {
	At   time.Time
	Took time.Duration
}

// recent remembers the newest samples.
type recent struct {
	mu    sync.Mutex
	ring  [recentMax]Sample
	next  int // index in ring
	count int
}

func (r *recent) add(t Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring[r.next] = t
	r.next = (r.next + 1) % recentMax
	r.count = min(r.count+1, recentMax)
}

// newest returns the samples since a time, the oldest first.
func (r *recent) newest(since time.Time) []Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := make([]Sample, 0, r.count)
	for i := range r.count {
		if t := r.ring[(r.next-r.count+i+recentMax)%recentMax]; t.At.After(since) {
			found = append(found, t)
		}
	}
	return found
}

// The stages of a turn whose newest samples are remembered.
const (
	answerStage = "answer"
	lateStage   = "late"
)

// Answers returns how long the answers of the last hour took, and how much later than the
// silence before them they came; recentMax at most, the oldest first.
func (m *Metrics) Answers() (took, late []Sample) {
	since := time.Now().Add(-recentLife)
	return m.answers.newest(since), m.late.newest(since)
}
