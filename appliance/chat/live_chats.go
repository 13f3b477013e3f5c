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

// Info describes a live conversation: whose it is, where it comes from, and since when. It holds nothing that
// was said.
type Info struct {
	ChatID, GroupID string
	Account         string
	RequestID       string          // identifies it in the log of its line
	Config          store.ConfigRef // empty if it has none
	Line            string          // kind of the line: "websocket"
	Client          string          // network address of the client, without a port; may be empty
	Since           time.Time
	Connectable     bool // the client allows others to connect to it
}

// Info describes the conversation.
func (s *Session) Info() Info { return s.info }

// A Listener receives copies of the messages and sound for the client of a chat, as connection.Copy values.
type Listener = record.Listener

// Listen returns a listener. The listener receives the messages so far (the first one and the newest 1,024, or
// 1 MiB, without interim transcripts), then everything new, with sound if sound is set. A chat has at most 16
// listeners; one more is a contract.ErrTooMany. Listeners never slow the chat: one that falls 256 messages or
// two minutes of sound behind is cut off with ErrBehind. The caller has to close the listener. ErrOver means
// that the chat has ended.
func (s *Session) Listen(sound bool) (*Listener, error) { return s.scribe.Listen(sound) }

// Turns returns the newest turns that were answered with sound, oldest first, with the times of their stages.
func (s *Session) Turns() []contract.ReturnTurn { return s.stages.recent() }

// Chats returns the live conversations, oldest first.
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

// Find returns the live session of a chat, and whether there is one. The caller has to check in its Info
// whether the account may have it.
func (h *Host) Find(chatID string) (*Session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c, ok := h.live[chatID]
	return c, ok
}

// register adds a session to the live ones.
func (h *Host) register(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.live[c.id] = c
	h.groups[c.info.GroupID] = c
}

// unregister removes a session that accepts nothing more.
func (h *Host) unregister(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.live, c.id)
	h.delays.forget(c.id)
	close(c.unregistered)
}

// releaseGroup removes a session of which nothing runs any more from its group.
func (h *Host) releaseGroup(c *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.groups[c.info.GroupID] == c {
		delete(h.groups, c.info.GroupID)
	}
}

const (
	// hangUpLimit is how long a session may take to notice that its line has closed. The client knows first,
	// and may be back before that.
	hangUpLimit = time.Second
	// endLimit is how long a chat that is ending may take to be over.
	endLimit = 2 * lastWriteLimit
)

// waitForGroup waits for the end of the group's chat if that chat is ending already, so that a client that
// reconnects at once finds its group free. It returns false if the chat goes on.
func (h *Host) waitForGroup(ctx context.Context, group string) bool {
	h.mu.Lock()
	c := h.groups[group]
	h.mu.Unlock()
	if c == nil { // it has just gone
		return true
	}
	return closedWithin(ctx, hangUpLimit, c.unregistered) && closedWithin(ctx, endLimit, c.done)
}

// closedWithin reports whether a channel is closed within a time.
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

// Occupied reports whether there are conversations. changes is closed when that has changed.
func (h *Host) Occupied() (is bool, changes <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots > 0, h.occupancyChanged
}

// Load returns the number of conversations, the number of their accounts, and the most conversations of one
// account.
func (h *Host) Load() (chats, accounts, most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, n := range h.accounts {
		most = max(most, n)
	}
	return h.slots, len(h.accounts), most
}
