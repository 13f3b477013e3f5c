package llama

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parley/appliance/engine"
)

// ErrClosed is what calls get that a Model's Close came before.
var ErrClosed = errors.New("llama: the model is closed")

// ErrBusy is what calls get while maxWaiting others wait.
var ErrBusy = fmt.Errorf("llama: %d requests are waiting already; try again later", maxWaiting)

// maxWaiting bounds the requests taken in and not yet answered: at a second
// each, the last of them would wait a minute.
const maxWaiting = 64

// mailbox is how callers reach the owner. It never blocks them.
type mailbox struct {
	wake  chan struct{} // holds one signal that something is new
	abort *abort        // of the step that runs

	mu       sync.Mutex
	arriving []*request
	forgets  []string
	pending  int // requests arriving or with the owner
	closed   bool
	recall   context.CancelFunc // set while the owner waits at the gate
	waitsFor engine.Need
}

func newMailbox(a *abort) *mailbox { return &mailbox{wake: make(chan struct{}, 1), abort: a} }

// put hands requests to the owner, all or none: those that belong together are
// read in the same steps. If the owner waits at the gate for something less urgent,
// it is called back to ask again in their name.
func (b *mailbox) put(all ...*request) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case b.pending+len(all) > maxWaiting:
		return ErrBusy
	}
	b.pending += len(all)
	b.arriving = append(b.arriving, all...)
	for _, r := range all {
		b.recallFor(r)
	}
	b.signal()
	return nil
}

// putBack hands r, which was put before, to the owner again.
func (b *mailbox) putBack(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arriving = append(b.arriving, r)
	b.recallFor(r)
	b.signal()
}

// recallFor calls the owner back from the gate if it waits there for something
// less urgent than r, with b.mu held.
func (b *mailbox) recallFor(r *request) {
	need := r.urgency.Get()
	if b.recall != nil && need.Compare(b.waitsFor) < 0 {
		b.recall()
	}
	b.abort.yieldTo(r.urgency, r.conversation)
}

// promoted tells the owner that the urgency of r has changed.
func (b *mailbox) promoted(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recallFor(r)
	b.signal()
}

// abandon tells the owner that nobody waits for r any more.
func (b *mailbox) abandon(r *request) {
	r.abandoned.Store(true)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.signal()
}

func (b *mailbox) forget(conversation string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.forgets = append(b.forgets, conversation)
		b.signal()
	}
}

func (b *mailbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.recall != nil {
		b.recall()
	}
	b.signal()
}

// signal wakes the owner, with b.mu held.
func (b *mailbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // it is awake
	}
}

// takeAll empties the mailbox; ok is false once it is closed.
func (b *mailbox) takeAll() (arriving []*request, forgets []string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	arriving, forgets = b.arriving, b.forgets
	b.arriving, b.forgets = nil, nil
	return arriving, forgets, !b.closed
}

// done says that a request is answered.
func (b *mailbox) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending--
}

// atGate says that the owner begins to wait at the gate for work of that need,
// and how to call it back. False: there is news already.
func (b *mailbox) atGate(n engine.Need, hurry context.CancelFunc) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.arriving) > 0 {
		return false
	}
	b.recall, b.waitsFor = hurry, n
	return true
}

func (b *mailbox) throughGate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recall = nil
}
