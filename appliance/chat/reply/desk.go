package reply

import (
	"sync"

	"parley/appliance/chat/turn"
	"parley/appliance/clerk"
	"parley/appliance/text"
)

// desk keeps what a clerk has read of the facts of a chat, which mostly stay the
// same: of 4 KB that takes a few milliseconds.
type desk struct {
	mu   sync.Mutex
	told string
	read *clerk.Desk
}

// at is the desk at which a conversation is answered; nil where it has no facts
// that a clerk can read, who knows English.
func (d *desk) at(c turn.Conversation) *clerk.Desk {
	if d == nil || c.Facts == nil || !c.Facts.Spelt {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if told := c.Facts.Told; d.told != told {
		d.told, d.read = told, nil
		if len(text.Numbers(told)) >= leastFacts {
			d.read = clerk.Read(told)
		}
	}
	return d.read
}
