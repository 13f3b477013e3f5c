package record

import (
	"sync"

	"parley/appliance/contract"
)

const (
	// maxFacts is how many facts may wait to be told, and maxBytes how much they may
	// hold. Who brings more waits long before; these are for what cannot be held
	// back: what is under way already, and the sound of a long sentence.
	maxFacts = 1024
	maxBytes = 64 << 20
	// waitFacts is how many of them, sound excepted, are enough to wait for, and
	// waitBytes how much: a long reply is some twenty, the longest settings
	// half a megabyte.
	waitFacts = 128
	waitBytes = 4 << 20
	// maxBatch is how many of them share a commit.
	maxBatch = 64
	// overhead is what one counts as beside its text and sound.
	overhead = 256
)

// queue holds what was told and is not delivered yet, in order.
type queue struct {
	mu      sync.Mutex
	waiting []outgoing
	bytes   int           // of all
	facts   int           // but sound
	text    int           // bytes of these
	running bool          // somebody takes what comes
	drained chan struct{} // not nil: closed as soon as there is less than enough
}

// put adds one; false means that too much waits. unserved: nobody takes what
// comes, and somebody has to from now on.
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

// count takes note of one that came (1) or went (-1).
func (q *queue) count(o outgoing, by int) {
	n := by * o.size()
	q.bytes += n
	if o.sound != nil {
		return
	}
	q.facts += by
	q.text += n
}

// take returns the next ones, as many as share a commit. Where none waits, it is
// served no more. One goroutine at a time calls it.
func (q *queue) take(batch []outgoing) []outgoing {
	clear(batch) // sound that was sent is not kept
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
	if q.drained != nil && q.isShort() { // those who wait for it may go on
		close(q.drained)
		q.drained = nil
	}
	return batch
}

func (q *queue) isShort() bool { return q.facts < waitFacts && q.text < waitBytes }

// whenShort returns what is closed as soon as there is room for more; nil where there
// is.
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

// size is how many bytes are held for it.
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

// sizeOf is how much text a message holds.
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
