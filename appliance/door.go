package appliance

import (
	"context"
	"sync/atomic"
	"time"

	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/line/ws"
)

// door stands between the lines, which are open at once, and the conversations,
// which cannot begin before the models are warm.
type door struct{ host atomic.Pointer[chat.Host] }

func (d *door) open(h *chat.Host) { d.host.Store(h) }

// warming is when it is worth asking again: the models take a few seconds.
const warming = 2 * time.Second

// Missing says what keeps a conversation from starting.
func (d *door) Missing(context.Context) []string {
	if d.host.Load() == nil {
		return []string{"the models are being loaded"}
	}
	return nil
}

// Reserve takes room for a conversation.
func (d *door) Reserve() (ws.Seat, error) {
	host := d.host.Load()
	if host == nil {
		return nil, contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
	}
	s, err := host.Reserve()
	if err != nil {
		return nil, err
	}
	return seat{s}, nil
}

// seat is a chat's, as a WebSocket line uses it.
type seat struct{ *chat.Seat }

// Open begins the conversation.
func (s seat) Open(ctx context.Context, o ws.Opening) (ws.Session, error) {
	c, err := s.Seat.Open(ctx, chat.Opening{Account: o.Account, RequestID: o.RequestID, Line: o.Line, Connect: o.Settings})
	if err != nil {
		return nil, err
	}
	return c, nil
}
