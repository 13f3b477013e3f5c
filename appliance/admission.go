package appliance

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"parley/appliance/chat"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/line/ws"
	"parley/store"
)

// admission lets conversations begin. The lines are open at once; before the
// models are warm they are refused here.
type admission struct {
	host atomic.Pointer[chat.Host]
	// writable says what keeps a chat from being written; nil where chats are
	// not.
	writable func(context.Context) error
}

func (a *admission) open(h *chat.Host) { a.host.Store(h) }

// warming is when it is worth asking again: the models take a few seconds.
const warming = 2 * time.Second

// trying is how long a disk has to show that it can be written, and the
// database to say who has accounts.
const trying = 2 * time.Second

// Missing says what keeps a conversation from starting.
func (a *admission) Missing(ctx context.Context) (missing []string) {
	if a.host.Load() == nil {
		missing = append(missing, "the models are being loaded")
	}
	if a.writable != nil {
		ctx, cancel := context.WithTimeout(ctx, trying)
		defer cancel()
		if err := a.writable(ctx); err != nil {
			missing = append(missing, err.Error())
		}
	}
	return missing
}

// Reserve takes room for a conversation.
func (a *admission) Reserve(account string) (ws.Seat, error) {
	host := a.host.Load()
	if host == nil {
		return nil, contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
	}
	s, err := host.Reserve(account)
	if err != nil {
		return nil, err
	}
	return seat{s}, nil
}

// alone returns what tells whether an account is the only one on the box, which
// then needs to leave no seats to others; nil where the operator has said how
// many seats an account may have.
func alone(ctx context.Context, cfg config.Config, records *store.Store) func(account string) bool {
	if cfg.Limits.ChatsPerAccount > 0 {
		return nil
	}
	return func(account string) bool {
		ctx, cancel := context.WithTimeout(ctx, trying)
		defer cancel()
		all, err := records.Accounts(ctx)
		return err == nil && !slices.ContainsFunc(all, func(a store.Account) bool { return a.ID != account })
	}
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
