package metrics

import (
	"sync"
	"time"
)

// recentMost is how many of the newest answers are remembered, and recentLife for
// how long: enough for a 95th percentile, and about how the box does now.
const (
	recentMost = 512
	recentLife = time.Hour
)

// Took is how long something took, and when it was over.
type Took struct {
	At   time.Time
	Took time.Duration
}

// recent remembers the newest of what took time.
type recent struct {
	mu   sync.Mutex
	ring [recentMost]Took
	next int // place in ring
	all  int
}

func (r *recent) add(t Took) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring[r.next] = t
	r.next = (r.next + 1) % recentMost
	r.all = min(r.all+1, recentMost)
}

// newest returns those since a time, the oldest first.
func (r *recent) newest(since time.Time) []Took {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := make([]Took, 0, r.all)
	for i := range r.all {
		if t := r.ring[(r.next-r.all+i+recentMost)%recentMost]; t.At.After(since) {
			found = append(found, t)
		}
	}
	return found
}

// The stages of a turn of which the newest are remembered.
const (
	answerStage = "answer"
	lateStage   = "late"
)

// Answers are how long the answers of the last hour took, and by how much they came
// later than the silence before them, the newest of them and the oldest first.
func (m *Metrics) Answers() (took, late []Took) {
	since := time.Now().Add(-recentLife)
	return m.answers.newest(since), m.late.newest(since)
}
