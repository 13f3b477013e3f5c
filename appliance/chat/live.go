package chat

import (
	"cmp"
	"context"
	"slices"
	"time"

	"parley/appliance/chat/record"
	"parley/appliance/contract"
	"parley/store"
)

// RealTime says of a conversation that goes on whose it is, where, and since when.
// Nothing in it was said by anybody.
type Info struct {
	ChatID, GroupID string
	Account         string
	RequestID       string          // by which the log of its line knows it
	Config          store.ConfigRef // empty: it has none
	Line            string          // how it reaches the person: "websocket"
	Client          string          // network address of the client, without a port; empty where there is none
	Since           time.Time
	Connectable     bool // its client lets others connect to it
}

// Info says whose conversation it is, and where.
func (c *Session) Info() Info { return c.info }

// A Listener gets what the client of a chat is told, each as a connection.Copy.
type Listener = record.Listener

// Listen returns a listener, which gets what the client was told so far (the
// first message and the newest 1,024, or 1 MiB, without words that may still
// change), and then what it is told; from now on its sound too, if that is
// wanted. There may be 16, and one more is a contract.ErrTooMany; none slows the
// chat, and one that falls 256 messages or two minutes of sound behind is cut off
// with ErrBehind. Who no longer listens closes it. ErrOver means that the chat has
// ended.
func (c *Session) Listen(sound bool) (*Listener, error) { return c.scribe.Listen(sound) }

// Turns are its newest turns that were answered aloud, the oldest first, with the
// moments of their stages.
func (c *Session) Turns() []contract.ReturnTurn { return c.stages.recent() }

// Chats are the conversations that are live, oldest first.
func (h *Host) Chats() []Info {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Info, 0, len(h.live))
	for _, c := range h.live {
		all = append(all, c.info)
	}
	slices.SortFunc(all, func(a, b Info) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ChatID, b.ChatID))
	})
	return all
}

// Find returns the live conversation of that chat; false where none is. Whether
// who asks may have it is to be seen in what is About it.
func (h *Host) Find(chatID string) (*Session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.live[chatID]
	return c, ok
}

// register puts a conversation among those that are live.
func (h *Host) register(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[c.id] = c
	h.groups[c.info.GroupID] = c
}

// unregister takes a conversation out that takes nothing more.
func (h *Host) unregister(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, c.id)
	h.delays.forget(c.id)
	close(c.unregistered)
}

// releaseGroup takes a conversation out of which nothing runs any more.
func (h *Host) releaseGroup(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[c.info.GroupID] == c {
		delete(h.groups, c.info.GroupID)
	}
}

const (
	// hangUpLimit is within what time a session has taken the end of its line: the
	// client knows of it first, and may be back before the session does.
	hangUpLimit = time.Second
	// endLimit is within what time a chat that is being ended is over.
	endLimit = 2 * lastWriteLimit
)

// waitForGroup waits until the chat of a group that goes on is over, if it is at its end
// already: who leaves and comes back at once finds the group free. False means
// that the chat goes on.
func (h *Host) waitForGroup(ctx context.Context, group string) bool {
	h.mu.Lock()
	c := h.groups[group]
	h.mu.Unlock()
	if c == nil { // it has just gone
		return true
	}
	return closedWithin(ctx, hangUpLimit, c.unregistered) && closedWithin(ctx, endLimit, c.done)
}

// closedWithin reports whether something is there within a time.
func closedWithin(ctx context.Context, limit time.Duration, there <-chan struct{}) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-there:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}

// Occupied reports whether there are conversations, and returns what is closed as
// soon as that has changed.
func (h *Host) Occupied() (is bool, changes <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots > 0, h.occupancyChanged
}

// Load is how many conversations there are, of how many accounts, and how many
// of them the account has that has most.
func (h *Host) Load() (chats, accounts, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.accounts {
		most = max(most, n)
	}
	return h.slots, len(h.accounts), most
}
