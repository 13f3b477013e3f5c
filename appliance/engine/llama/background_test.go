package llama

import (
	"testing"

	"parley/appliance/engine"
)

// The caches of conversations in which nobody talks are evicted before those of chats, also newer ones.
func TestConversationsInWhichNobodyTalksAreEvictedFirst(t *testing.T) {
	chat := &sequence{id: 0, tokens: []Token{1}, conversation: "chat", lastUsed: 1}
	program := &sequence{id: 1, tokens: []Token{2}, conversation: "program", lastUsed: 2, background: true}
	later := &sequence{id: 2, tokens: []Token{3}, conversation: "later", lastUsed: 3}
	c := &cache{sequences: []*sequence{chat, program, later}}
	if got := c.idle(false); got != program {
		t.Errorf("idle: %+v", got)
	}
	if got := c.evictable(); got != program {
		t.Errorf("evictable: %+v", got)
	}
	program.background = false
	if got := c.idle(false); got != chat {
		t.Errorf("idle: %+v", got)
	}
}

// Half of the cells are always left to conversations.
func TestRequestsOfProgramsLeaveCellsToConversations(t *testing.T) {
	of := func(p engine.Priority, tokens int) *request {
		return &request{prompt: make([]Token, tokens), urgency: p.Urgency()}
	}
	d := &decoder{cells: 1000}
	if d.crowds(of(engine.Request, 900)) {
		t.Error("a single one is refused")
	}
	d.running = []*request{of(engine.Request, 400), of(engine.Live, 300)}
	for _, try := range []struct {
		r    *request
		want bool
	}{
		{of(engine.Request, 100), false},
		{of(engine.Request, 101), true},
		{of(engine.Batch, 101), true},
		{of(engine.Live, 600), false},
		{&request{prompt: make([]Token, 600), prefill: true}, false},
	} {
		if got := d.crowds(try.r); got != try.want {
			t.Errorf("%v of %d tokens: %t", try.r.urgency.Get().Priority, len(try.r.prompt), got)
		}
	}
}
