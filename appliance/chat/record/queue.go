package record

import (
	"sync"

	"parley/appliance/contract"
)

const (
	// maxFacts is how many facts may wait, and maxBytes how much memory they may hold. New messages wait long
	// before that. These limits are for what cannot be held back: work under way, and the sound of a long
	// sentence.
	maxFacts = 1024
	maxBytes = 64 << 20
	// waitFacts and waitBytes are the backlog, without sound, at which new messages have to wait. A long
	// reply is some twenty facts; the longest settings are half a megabyte.
	waitFacts = 128
	waitBytes = 4 << 20
	// maxBatch is how many facts share a commit.
	maxBatch = 64
	// overhead is what a fact counts in addition to its text and sound, in bytes.
	overhead = 256
)

// queue holds what was published and is not delivered yet, in order.
type queue struct {
	mu      sync.Mutex
	waiting []outgoing
	bytes   int           // of everything in waiting
	facts   int           // of those without sound
	text    int           // bytes of those without sound
	running bool          // a goroutine takes from the queue
	drained chan struct{} // if not nil, closed as soon as the queue is short
}

// put adds an element. ok is false if the queue is full. unserved means that no goroutine takes from the
// queue and one has to start.
func (q *queue) put(o outgoing) (unserved, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := o.size()
	if len(q.waiting) >= maxFacts || len(q.waiting) > 0 && q.bytes+n > maxBytes {
		return false, false
	}
	q.waiting = append(q.waiting, o)
	q.count(o, 1)
	unserved, q.running = !q.running, true
	return unserved, true
}

// count adjusts the counters for an element that came (by = 1) or went (by = -1).
func (q *queue) count(o outgoing, by int) {
	n := by * o.size()
	q.bytes += n
	if o.sound != nil {
		return
	}
	q.facts += by
	q.text += n
}

// take returns the next elements, as many as share a commit. If there are none, the queue counts as not
// running. One goroutine at a time may call it.
func (q *queue) take(batch []outgoing) []outgoing {
	clear(batch) // release sound that was sent
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxBatch)
	batch = append(batch[:0], q.waiting[:n]...)
	for _, o := range batch {
		q.count(o, -1)
	}
	clear(q.waiting[:n])
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	q.running = n > 0
	if q.drained != nil && q.isShort() { // wake those who wait for it
		close(q.drained)
		q.drained = nil
	}
	return batch
}

func (q *queue) isShort() bool { return q.facts < waitFacts && q.text < waitBytes }

// whenShort returns a channel that is closed as soon as the queue is short, or nil if it is short now.
func (q *queue) whenShort() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isShort() {
		return nil
	}
	if q.drained == nil {
		q.drained = make(chan struct{})
	}
	return q.drained
}

// size returns how many bytes of memory an element holds.
func (o outgoing) size() int {
	n := overhead + len(o.metadata) + sizeOf(o.message)
	if o.record != nil {
		n += len(o.record.MessageText) + len(o.record.Metadata)
	}
	if o.notice != nil {
		n += len(o.notice.Body)
	}
	if o.sound != nil {
		n += 4 * len(o.sound.PCM)
	}
	return n
}

// sizeOf returns how much text a message holds, in bytes.
func sizeOf(m contract.ServerMessage) int {
	switch m := m.(type) {
	case contract.UserMessage:
		return len(m.Message.Content)
	case contract.AssistantMessage:
		return len(m.Message.Content)
	case contract.ToolCallMessage:
		return len(m.Parameters)
	case contract.ToolResponseMessage:
		return len(m.Content)
	case contract.ToolErrorMessage:
		return len(m.Content) + len(m.Error)
	case contract.WebSocketError:
		return len(m.Message)
	}
	return 0
}
