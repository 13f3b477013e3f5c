package record

import (
	"sync"

	"parley/appliance/contract"
)

const (
	// most is how many facts may wait to be told, and mostBytes how much they may
	// hold. Who could bring more waits at enough; these are for what nobody can
	// hold back: events under way already, and the sound of one long answer, of
	// which a voice makes no more than this in the time that a line may need for
	// one message.
	most      = 1024
	mostBytes = 64 << 20
	// enough is how many of them are enough to wait for, and enoughBytes how
	// much: a long reply is some twenty, the longest settings half a megabyte.
	enough      = 128
	enoughBytes = 4 << 20
	// batchLength is how many of them share a commit.
	batchLength = 64
	// overhead is what one counts as beside its text and sound.
	overhead = 256
)

// queue holds what was told and is not delivered yet, in order.
type queue struct {
	mu      sync.Mutex
	waiting []outgoing
	bytes   int
	closed  bool
	more    chan struct{} // has one when something came
	room    chan struct{} // not nil: closed as soon as there is less than enough
}

func newQueue() *queue { return &queue{more: make(chan struct{}, 1)} }

// put adds one; false means that too much waits.
func (q *queue) put(o outgoing) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := o.size()
	if len(q.waiting) >= most || len(q.waiting) > 0 && q.bytes+n > mostBytes {
		return false
	}
	q.waiting = append(q.waiting, o)
	q.bytes += n
	q.wake()
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take waits for the next ones, as many as share a commit; none means that the
// queue is closed and empty. One goroutine calls it.
func (q *queue) take(batch []outgoing) []outgoing {
	clear(batch) // sound that was sent is not kept
	for {
		batch, closed := q.pop(batch[:0])
		if len(batch) > 0 || closed {
			return batch
		}
		<-q.more
	}
}

func (q *queue) pop(batch []outgoing) (_ []outgoing, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), batchLength)
	batch = append(batch, q.waiting[:n]...)
	for _, o := range batch {
		q.bytes -= o.size()
	}
	clear(q.waiting[:n])
	q.waiting = q.waiting[n:]
	if q.room != nil && q.roomy() {
		close(q.room)
		q.room = nil
	}
	return batch, q.closed
}

func (q *queue) roomy() bool { return len(q.waiting) < enough && q.bytes < enoughBytes }

// wait returns what is closed as soon as there is room; nil where there is.
func (q *queue) wait() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.roomy() {
		return nil
	}
	if q.room == nil {
		q.room = make(chan struct{})
	}
	return q.room
}

// size is how many bytes are held for it.
func (o outgoing) size() int {
	n := overhead + len(o.metadata) + sizeOf(o.message)
	if o.record != nil {
		n += len(o.record.MessageText) + len(o.record.Metadata)
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
	case contract.WebSocketError:
		return len(m.Message)
	}
	return 0
}
