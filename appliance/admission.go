package appliance

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"parley/appliance/chat"
	"parley/appliance/chat/turn"
	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/store"
)

// admission lets conversations begin. The lines are open at once; before the
// models are warm they are refused here.
type admission struct {
	host atomic.Pointer[chat.Host]
	// writable says what keeps a chat from being written; nil where chats are
	// not.
	writable func(context.Context) error
	log      *slog.Logger

	mu       sync.Mutex
	watching bool // whether somebody waits for a trouble to end
	watchers sync.WaitGroup
	stop     context.Context // ends with the box
}

const (
	// warming is when it is worth asking again: the models take a few seconds.
	warming = 2 * time.Second
	// trying is how long a disk has to show that it can be written, and the
	// database to say who has accounts.
	trying = 2 * time.Second
	// rechecking is how often a full or failing disk is looked at until it can
	// be written again: soon enough for the person who mends it. While all is
	// well it is not looked at.
	rechecking = 5 * time.Second
)

// open lets conversations begin. ready is called as soon as nothing keeps them
// from it: at once, or when the trouble is over that waiting is told of.
func (a *admission) open(h *chat.Host, waiting func(why string), ready func()) {
	a.host.Store(h)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch(rechecking, waiting, ready)
}

// watch waits for the end of what keeps conversations from starting, whose
// changes are logged. a.mu is held.
func (a *admission) watch(every time.Duration, waiting func(why string), ready func()) {
	a.watching = true
	a.watchers.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for told := ""; ; {
			_, all := a.missing(a.stop)
			why := strings.Join(all, "; ")
			if why == "" || a.stop.Err() != nil {
				break
			}
			if why != told {
				told = why
				a.log.Error("not ready: no conversation can start", "why", why)
				waiting(why)
			}
			select {
			case <-tick.C:
			case <-a.stop.Done():
			}
		}
		a.mu.Lock()
		a.watching = false
		a.mu.Unlock()
		if a.stop.Err() == nil {
			ready()
		}
	})
}

// wait returns when nobody watches any more, after stop has ended.
func (a *admission) wait() { a.watchers.Wait() }

// Missing says what keeps a conversation from starting. A trouble that it meets
// first is logged, and so is its end.
func (a *admission) Missing(ctx context.Context) []string {
	missing, _ := a.missing(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(missing) > 0 && a.host.Load() != nil && !a.watching && a.stop.Err() == nil {
		a.watch(rechecking, func(string) {}, func() { a.log.Info("ready again") })
	}
	return missing
}

// missing says what keeps a conversation from starting: as everybody may read
// it, and in full, for the log.
func (a *admission) missing(ctx context.Context) (told, full []string) {
	if a.host.Load() == nil {
		told = append(told, "the models are being loaded")
	}
	full = slices.Clone(told)
	if a.writable != nil {
		ctx, cancel := context.WithTimeout(ctx, trying)
		defer cancel()
		if err := a.writable(ctx); err != nil {
			told, full = append(told, kindOf(err)), append(full, err.Error())
		}
	}
	return told, full
}

// kindOf is what everybody may read of a fault of the disk.
func kindOf(err error) string {
	for _, kind := range []error{store.ErrFull, store.ErrReadOnly, store.ErrDamaged, store.ErrBusy, store.ErrClosed} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "the data folder cannot be written; the box's log says why"
}

// Reserve takes room for a conversation, unless something keeps it from starting:
// then its client learns that before the line is open. It is line.Host.
func (a *admission) Reserve(account string) (line.Seat, error) {
	host := a.host.Load()
	if host == nil {
		return nil, contract.ErrUnavailable{Why: "the models are being loaded", RetryAfter: warming}
	}
	if missing := a.Missing(a.stop); len(missing) > 0 {
		return nil, contract.ErrUnavailable{Why: strings.Join(missing, "; "), RetryAfter: rechecking}
	}
	s, err := host.Reserve(account)
	if err != nil {
		return nil, err
	}
	return seat{s}, nil
}

// chatDefaults are the settings of a chat where neither config nor client says
// otherwise.
func chatDefaults(cfg config.Config) turn.Settings {
	s := chat.DefaultSettings()
	s.Semantic = cfg.TurnDetection.Mode == string(contract.TurnSemantic)
	if cfg.Tools.TimeoutS > 0 {
		s.ToolLimit = time.Duration(cfg.Tools.TimeoutS) * time.Second
	}
	if cfg.Chat.SoundAheadS > 0 {
		s.SoundAhead = time.Duration(cfg.Chat.SoundAheadS) * time.Second
	}
	s.Plugins = cfg.Plugins
	s.Filler = time.Duration(cfg.Tools.FillerMS) * time.Millisecond
	return s
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

// seat is a chat's, as lines use it.
type seat struct{ *chat.Seat }

// Open begins the conversation.
func (s seat) Open(ctx context.Context, o line.Opening) (line.Session, error) {
	c, err := s.Seat.Open(ctx, chat.Opening{
		Account:   o.Account,
		RequestID: o.RequestID,
		Line:      o.Line,
		Kind:      o.Kind,
		Client:    o.Client,
		Near:      o.Near,
		Live:      o.Live,
		Connect:   o.Settings,
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}
