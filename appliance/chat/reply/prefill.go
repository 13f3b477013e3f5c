package reply

import (
	"context"
	"sync"

	"parley/appliance/chat/turn"
)

// prefills are what the model is to read ahead: one conversation that it reads, and
// one that waits. A client may change its prompt faster than any model reads.
type prefills struct {
	mu      sync.Mutex
	running bool
	prompt  string // the prompt of what is read
	cancel  context.CancelFunc
	next    *prefillRequest
}

// prompt is what a model is to read ahead, and how.
type prefillRequest struct {
	turn.Conversation
	options ModelOptions
}

// put has a conversation wait in place of the one that does. What is read is
// given up if it has another prompt: nothing of it will be used. It reports
// whether nobody reads yet.
func (p *prefills) put(c turn.Conversation, how ModelOptions) (start bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = &prefillRequest{c, how}
	if p.cancel != nil && p.prompt != c.Prompt {
		p.cancel()
	}
	start = !p.running
	p.running = true
	return start
}

// take takes what waits; there is no more when it is false. cancel gives it up.
func (p *prefills) take(cancel context.CancelFunc) (c prefillRequest, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.running, p.cancel = false, nil
		return c, false
	}
	c, p.next = *p.next, nil
	p.prompt, p.cancel = c.Prompt, cancel
	return c, true
}
