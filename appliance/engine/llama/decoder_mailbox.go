package llama

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parley/appliance/engine"
)

// ErrClosed is returned by calls after Model.Close.
var ErrClosed = errors.New("llama: the model is closed")

// ErrBusy is returned while maxWaiting requests wait.
var ErrBusy = fmt.Errorf("llama: %d requests are waiting already: try again later", maxWaiting)

// maxWaiting limits the requests that were accepted and not yet answered: at a second each, the
// last would wait a minute.
const maxWaiting = 64

// mailbox passes requests from callers to the decoder. It never blocks the callers.
type mailbox struct {
	wake  chan struct{} // holds one signal that something has arrived
	abort *abort        // of the running step

	mu       sync.Mutex
	arriving []*request
	forgets  []string
	pending  int // requests arriving or with the decoder
	closed   bool
	recall   context.CancelFunc // set while the decoder waits at the gate
	waitsFor engine.Need
}

func newMailbox(a *abort) *mailbox { return &mailbox{wake: make(chan struct{}, 1), abort: a} }

// put passes requests to the decoder, all or none. Requests that belong together are prefilled in
// the same steps. If the decoder waits at the gate for something less urgent, it is recalled to
// wait on their behalf.
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

// putBack passes r, which was put before, to the decoder again.
func (b *mailbox) putBack(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arriving = append(b.arriving, r)
	b.recallFor(r)
	b.signal()
}

// recallFor recalls the decoder from the gate if it waits there for something less urgent than r.
// The caller holds b.mu.
func (b *mailbox) recallFor(r *request) {
	need := r.urgency.Get()
	if b.recall != nil && need.Compare(b.waitsFor) < 0 {
		b.recall()
	}
	b.abort.yieldTo(r.urgency, r.conversation)
}

// promoted notifies the decoder that the urgency of r has changed.
func (b *mailbox) promoted(r *request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recallFor(r)
	b.signal()
}

// abandon notifies the decoder that nobody waits for r any more.
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

// signal wakes the decoder. The caller holds b.mu.
func (b *mailbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default: // it is awake
	}
}

// takeAll empties the mailbox; ok is false once the mailbox is closed.
func (b *mailbox) takeAll() (arriving []*request, forgets []string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	arriving, forgets = b.arriving, b.forgets
	b.arriving, b.forgets = nil, nil
	return arriving, forgets, !b.closed
}

// done records that a request is answered.
func (b *mailbox) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending--
}

// atGate records that the decoder waits at the gate with this need, and how to recall it. It
// returns false if something has arrived already.
func (b *mailbox) atGate(n engine.Need, hurry context.CancelFunc) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.arriving) > 0 {
		return false
	}
	b.recall, b.waitsFor = hurry, n
	return true
}

func (b *mailbox) leftGate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.recall = nil
}
