// Package progress reports the progress of long work.
package progress

import "sync"

// Step is a step of the work, in a word for people.
type Step string

// The steps of the work on packs, backups, recordings and uploads.
const (
	Downloading Step = "downloading"
	Unpacking   Step = "unpacking"
	Checking    Step = "checking" // hashing and putting in place
	Installing  Step = "installing"
	Writing     Step = "writing"
	Reading     Step = "reading"
	Sending     Step = "sending"
	Done        Step = "done"
	Skipped     Step = "skipped" // the Note says why
)

// An Event is the progress of the work on one thing.
type Event struct {
	Name  string // what is worked on, such as a pack
	Step  Step
	Done  int64 // bytes; while a pull unpacks and checks, the downloaded ones
	Total int64 // bytes
	Note  string
}

// Func is called for each event, one call at a time. It may be nil.
type Func func(Event)

// Serial returns f made safe for concurrent use, and for nil.
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
