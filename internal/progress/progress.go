// Package progress tells whoever waits for long work how far it is.
package progress

import "sync"

// Step is what is being done, in a word for people.
type Step string

// The steps of the work on packs, backups and recordings.
const (
	Downloading Step = "downloading"
	Unpacking   Step = "unpacking"
	Checking    Step = "checking" // hashing and putting in place
	Installing  Step = "installing"
	Writing     Step = "writing"
	Reading     Step = "reading"
	Done        Step = "done"
	Skipped     Step = "skipped" // with a Note that says why
)

// An Event tells how far the work on one thing is.
type Event struct {
	Name  string // of what is worked on, such as a pack
	Step  Step
	Done  int64 // bytes; while a pull unpacks and checks, those that were downloaded
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
