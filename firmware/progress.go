package firmware

import "sync"

// Step is what is happening to a pack.
type Step string

// The steps of a pack, in order.
const (
	Downloading Step = "download"
	Checking    Step = "check" // hashing and putting in place
	Installing  Step = "install"
	Writing     Step = "write"
	Reading     Step = "read"
	Done        Step = "done"
	Skipped     Step = "skip" // with a Note that says why
)

// An Event tells how far a pack is.
type Event struct {
	Pack  string
	Step  Step
	Done  int64 // bytes
	Total int64 // bytes
	Note  string
}

// Progress is told what happens, one call at a time. A nil Progress is not.
type Progress func(Event)

// serial makes p safe to be called from several goroutines, and to be nil.
func (p Progress) serial() Progress {
	if p == nil {
		return func(Event) {}
	}
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		p(e)
	}
}
