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
func (m *mailbox) put(all ...*request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case m.pending+len(all) > maxWaiting:
		return ErrBusy
	}
	m.pending += len(all)
	m.arriving = append(m.arriving, all...)
	for _, r := range all {
		m.recallFor(r)
	}
	m.signal()
	return nil
}

// putBack passes r, which was put before, to the decoder again.
func (m *mailbox) putBack(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.arriving = append(m.arriving, r)
	m.recallFor(r)
	m.signal()
}

// recallFor recalls the decoder from the gate if it waits there for something less urgent than r.
// The caller holds b.mu.
func (m *mailbox) recallFor(r *request) {
	need := r.urgency.Get()
	if m.recall != nil && need.Compare(m.waitsFor) < 0 {
		m.recall()
	}
	m.abort.yieldTo(r.urgency, r.conversation)
}

// promoted notifies the decoder that the urgency of r has changed.
func (m *mailbox) promoted(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recallFor(r)
	m.signal()
}

// abandon notifies the decoder that nobody waits for r any more.
func (m *mailbox) abandon(r *request) {
	r.abandoned.Store(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.signal()
}

func (m *mailbox) forget(conversation string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.forgets = append(m.forgets, conversation)
		m.signal()
	}
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.recall != nil {
		m.recall()
	}
	m.signal()
}

// signal wakes the decoder. The caller holds b.mu.
func (m *mailbox) signal() {
	select {
	case m.wake <- struct{}{}:
	default: // it is awake
	}
}

// takeAll empties the mailbox; ok is false once the mailbox is closed.
func (m *mailbox) takeAll() (arriving []*request, forgets []string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	arriving, forgets = m.arriving, m.forgets
	m.arriving, m.forgets = nil, nil
	return arriving, forgets, !m.closed
}

// done records that a request is answered.
func (m *mailbox) done() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending--
}

// atGate records that the decoder waits at the gate with this need, and how to recall it. It
// returns false if something has arrived already.
func (m *mailbox) atGate(n engine.Need, hurry context.CancelFunc) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || len(m.arriving) > 0 {
		return false
	}
	m.recall, m.waitsFor = hurry, n
	return true
}

func (m *mailbox) leftGate() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.recall = nil
}
