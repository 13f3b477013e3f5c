package reply

import (
	"context"
	"sync"

	"parley/appliance/chat/turn"
)

// ahead is what the model is to read ahead: one conversation that it reads, and
// one that waits. A client may change its prompt faster than any model reads.
type ahead struct {
	mu      sync.Mutex
	running bool
	reading string // the prompt of what is read
	cancel  context.CancelFunc
	next    *turn.Conversation
}

// put has a conversation wait in place of the one that does. What is read is
// given up if it has another prompt: nothing of it will be used. It reports
// whether nobody reads yet.
func (a *ahead) put(c turn.Conversation) (start bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.next = &c
	if a.cancel != nil && a.reading != c.Prompt {
		a.cancel()
	}
	start = !a.running
	a.running = true
	return start
}

// take takes what waits; there is no more when it is false. cancel gives it up.
func (a *ahead) take(cancel context.CancelFunc) (c turn.Conversation, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.next == nil {
		a.running, a.cancel = false, nil
		return c, false
	}
	c, a.next = *a.next, nil
	a.reading, a.cancel = c.Prompt, cancel
	return c, true
}
