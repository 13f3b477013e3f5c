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

// Live says of a conversation that goes on whose it is, where, and since when.
// Nothing in it was said by anybody.
type Live struct {
	ChatID, GroupID string
	Account         string
	RequestID       string          // by which the log of its line knows it
	Config          store.ConfigRef // empty: it has none
	Line            string          // how it reaches the person: "websocket"
	Client          string          // network address of the client, without a port; empty where there is none
	Since           time.Time
	Connectable     bool // its client lets others connect to it
}

// About says whose conversation it is, and where.
func (c *Session) About() Live { return c.about }

// A Listener gets what the client of a chat is told, each as a Copy.
type (
	Listener = record.Listener
	Copy     = record.Copy
)

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
func (c *Session) Turns() []contract.ReturnTurn { return c.pace.turns() }

// Chats are the conversations that are live, oldest first.
func (h *Host) Chats() []Live {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]Live, 0, len(h.live))
	for _, c := range h.live {
		all = append(all, c.about)
	}
	slices.SortFunc(all, func(a, b Live) int {
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

// enter puts a conversation among those that are live.
func (h *Host) enter(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[c.id] = c
	h.groups[c.about.GroupID] = c
}

// leave takes a conversation out that takes nothing more.
func (h *Host) leave(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, c.id)
	h.late.forget(c.id)
	close(c.left)
}

// over takes a conversation out of which nothing runs any more.
func (h *Host) over(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[c.about.GroupID] == c {
		delete(h.groups, c.about.GroupID)
	}
}

const (
	// noticed is within what time a session has taken the end of its line: the
	// client knows of it first, and may be back before the session does.
	noticed = time.Second
	// written is within what time a chat that is being ended is over.
	written = 2 * goodbye
)

// vacant waits until the chat of a group that goes on is over, if it is at its end
// already: who leaves and comes back at once finds the group free. False means
// that the chat goes on.
func (h *Host) vacant(ctx context.Context, group string) bool {
	h.mu.Lock()
	c := h.groups[group]
	h.mu.Unlock()
	if c == nil { // it has just gone
		return true
	}
	return within(ctx, noticed, c.left) && within(ctx, written, c.done)
}

// within reports whether something is there within a time.
func within(ctx context.Context, limit time.Duration, there <-chan struct{}) bool {
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
	return h.seats > 0, h.turned
}

// Load is how many conversations there are, of how many accounts, and how many
// of them the account has that has most.
func (h *Host) Load() (chats, accounts, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.accounts {
		most = max(most, n)
	}
	return h.seats, len(h.accounts), most
}
