package reply

import (
	"context"
	"sync"

	"parley/appliance/chat/turn"
)

// prefills holds the conversation that the model is prefilling, and the one that waits. A client may change
// its prompt faster than any model reads.
type prefills struct {
	mu      sync.Mutex
	running bool
	prompt  string // of the running prefill
	cancel  context.CancelFunc
	next    *prefillRequest
}

// prefillRequest is a conversation to prefill, and the model's options.
type prefillRequest struct {
	turn.Conversation
	options ModelOptions
}

// put replaces the conversation that waits. If the running prefill has another prompt, it is cancelled,
// because nothing of it will be used. start means that no prefill is running and one has to start.
func (p *prefills) put(c turn.Conversation, options ModelOptions) (start bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = &prefillRequest{c, options}
	if p.cancel != nil && p.prompt != c.Prompt {
		p.cancel()
	}
	start = !p.running
	p.running = true
	return start
}

// take takes the conversation that waits; more is false if there is none. cancel cancels its prefill.
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
