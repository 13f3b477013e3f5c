// Package progress tells whoever waits for long work how far it is.
package progress

import "sync"

// Step is what is being done.
type Step string

// The steps of the work on packs, backups and recordings.
const (
	Downloading Step = "download"
	Checking    Step = "check" // hashing and putting in place
	Installing  Step = "install"
	Writing     Step = "write"
	Reading     Step = "read"
	Done        Step = "done"
	Skipped     Step = "skip" // with a Note that says why
)

// An Event tells how far the work on one thing is.
type Event struct {
	Name  string // of what is worked on, such as a pack
	Step  Step
	Done  int64 // bytes
	Total int64 // bytes
	Note  string
}

// Func is told what happens, one call at a time. It may be nil.
type Func func(Event)

// Serial returns f made safe to be called from several goroutines, and to be
// nil.
func (f Func) Serial() Func {
	if f == nil {
		return func(Event) {}
	}
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		f(e)
	}
}
