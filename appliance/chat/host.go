// Package chat runs live conversations. A Host opens them and bounds their number; a Session owns one
// conversation on one goroutine; a Line connects it to a client. Package turn decides whose turn it is and
// what happens next; ear hears the user, reply thinks and speaks the answer, record writes and sends what
// happens.
package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"parley/appliance/chat/ear"
	"parley/appliance/chat/record"
	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/appliance/text"
	"parley/store"
)

// AccountVoices opens the voices that an account may use, by name or ID. The empty name is the default voice.
type AccountVoices interface {
	// Voice returns a voice. It may take seconds to load it; ctx bounds that.
	Voice(ctx context.Context, account, name string) (engine.Synthesizer, error)
	// Prepare checks that there is such a voice, and loads it in the background. If there is none, the error
	// lists the voices.
	Prepare(account, name string) error
}

// boundVoices are AccountVoices bound to one account.
type boundVoices struct {
	all     AccountVoices
	account string
}

func (v boundVoices) Voice(ctx context.Context, name string) (engine.Synthesizer, error) {
	return v.all.Voice(ctx, v.account, name)
}

func (v boundVoices) Prepare(name string) error { return v.all.Prepare(v.account, name) }

// Parts are what a Host needs.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	TurnEnd     ear.TurnEnd // nil: only silence ends a turn
	Model       engine.LanguageModel
	Voices      AccountVoices
	// Pronunciation returns how texts of an account are pronounced; nil: as the voice pronounces them.
	Pronunciation func(ctx context.Context, account string) text.Options
	// StoredSound has the sound of approved answers; nil: it is synthesised each time.
	StoredSound reply.StoredSound
	Records     Records
	Recordings  Recordings // nil: chats are not recorded
	// Outbox stores the webhook notifications of chats that are not recorded. nil: such chats notify no one.
	Outbox  record.Outbox
	Configs Configs
	Models  Models        // the models that configs name; Model is the default
	Answers Answers       // finds approved answers; nil if the box cannot
	Tools   reply.Toolbox // the box's tools; nil if it has none
	Plugins Plugins       // the box's plugins; nil if it has none
	// StrictModels refuses a chat if its config names a model that Models does not have. Otherwise the
	// default model answers.
	StrictModels bool
	Defaults     turn.Settings
	// Rules returns the rules that the box adds for a model; nil: none.
	Rules func(engine.LanguageModel) turn.Rules
	Log   *slog.Logger
	// MaxChats is the most conversations at once. One more is refused, because it would make all of them
	// late.
	MaxChats int
	// MaxAddedDelay is the longest delay between the silence that ends a turn and the answer. While more than
	// half of the conversations wait longer, no new one is accepted. 0: no limit.
	MaxAddedDelay time.Duration
	// ChatsPerAccount is the most conversations of one account; 0: no limit. SoleAccount, if not nil, reports
	// whether there is no other account to leave slots for; then the limit does not apply.
	ChatsPerAccount int
	SoleAccount     func(account string) bool
	// Changed is called when a slot is taken or given back. It must not block; it may be nil.
	Changed func()
	// Observe is called with the duration of each stage of a turn; it may be nil.
	Observe func(Stage, time.Duration)
	// Expression measures feelings; nil: they are not measured. TellFeelings reports whether a model receives
	// the user's strongest feelings; nil: none does.
	Expression   Expression
	TellFeelings func(engine.LanguageModel) bool
}

// Host opens conversations and keeps track of the open ones.
type Host struct {
	Parts

	ctx  context.Context // cancelled by Stop
	stop context.CancelFunc

	mu               sync.Mutex
	slots            int
	occupancyChanged chan struct{}       // closed when slots becomes 0, or is no longer 0
	accounts         map[string]int      // slots in use, by account
	live             map[string]*Session // by chat ID
	groups           map[string]*Session // by chat group, until nothing of the session runs any more
	delays           delays
	throughputs      map[engine.LanguageModel]*reply.Throughput
	stopping         bool

	sessions group // the sessions, what follows them, and one entry for each slot in use
	stopper  group // waits for sessions in Stop
}

// NewHost returns a Host. Its conversations inherit the values of ctx, but not its cancellation.
func NewHost(ctx context.Context, parts Parts) *Host {
	h := &Host{
		Parts:            parts,
		accounts:         map[string]int{},
		live:             map[string]*Session{},
		groups:           map[string]*Session{},
		throughputs:      map[engine.LanguageModel]*reply.Throughput{},
		occupancyChanged: make(chan struct{}),
		sessions:         group{log: parts.Log},
		stopper:          group{log: parts.Log},
	}
	h.ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	return h
}

// fullRetry is the Retry-After of a full box. Chats last minutes, so one slot of several becomes free in half
// a minute.
const fullRetry = 30 * time.Second

// Slot is the right to run one conversation. It is reserved before the line is accepted.
type Slot struct {
	host    *Host
	account string
	once    sync.Once
}

// Reserve takes a slot for an account. It returns a contract.ErrFull if the box has none left or answers its
// chats late, and a contract.ErrTooMany if the account has all that it may have.
func (h *Host) Reserve(account string) (*Slot, error) {
	if err := h.refuseIfLate(); err != nil {
		return nil, err
	}
	slot, err := h.reserve(account, h.ChatsPerAccount)
	_, tooMany := errors.AsType[contract.ErrTooMany](err)
	if tooMany && h.SoleAccount != nil && h.SoleAccount(account) {
		return h.reserve(account, 0)
	}
	return slot, err
}

// reserve takes a slot for an account that may have most of them; 0: no limit.
func (h *Host) reserve(account string, most int) (*Slot, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || h.slots >= h.MaxChats {
		return nil, contract.ErrFull{RetryAfter: fullRetry}
	}
	if n := h.accounts[account]; most > 0 && n >= most {
		return nil,
			contract.ErrTooMany{What: fmt.Sprintf("this account has %d chats open, as many as one account may have", n),
				RetryAfter: fullRetry}
	}
	h.countSlots(1)
	h.accounts[account]++
	h.sessions.running.Add(1)
	return &Slot{host: h, account: account}, nil
}

// countSlots adds more, which is 1 or -1, to the slots in use. The caller holds h.mu.
func (h *Host) countSlots(more int) {
	before := h.slots
	h.slots += more
	if before == 0 || h.slots == 0 {
		close(h.occupancyChanged)
		h.occupancyChanged = make(chan struct{})
	}
	if h.Changed != nil {
		h.Changed()
	}
}

// Release gives the slot back. An opened session does it at its end.
func (s *Slot) Release() {
	s.once.Do(func() {
		s.host.mu.Lock()
		s.host.countSlots(-1)
		if s.host.accounts[s.account]--; s.host.accounts[s.account] == 0 {
			delete(s.host.accounts, s.account)
		}
		s.host.mu.Unlock()
		s.host.sessions.running.Done()
	})
}

// throughput returns the measured throughput of a model.
func (h *Host) throughput(m engine.LanguageModel) *reply.Throughput {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.throughputs[m]
	if p == nil {
		p = reply.NewThroughput()
		h.throughputs[m] = p
	}
	return p
}

// Running returns the number of slots in use.
func (h *Host) Running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots
}

// Stop ends all conversations and waits until they are over or ctx ends. No new ones begin.
func (h *Host) Stop(ctx context.Context) error {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.stop()
	over := make(chan struct{})
	h.stopper.Go(func() { h.sessions.Wait(); close(over) })
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d chats did not end in time: %w", h.Running(), context.Cause(ctx))
	}
}

// retryEvery is the interval between attempts to write the end of a chat: a full disk has space again once
// someone frees some.
const retryEvery = 5 * time.Second

// transient reports whether a failed write may succeed later: after space was freed on the disk, or when
// another process has released the database.
func transient(err error) bool {
	for _, temporary := range []error{store.ErrFull, store.ErrBusy, store.ErrReadOnly, context.DeadlineExceeded} {
		if errors.Is(err, temporary) {
			return true
		}
	}
	return false
}

// retry writes the end of a chat, now or as soon as the disk accepts it, because a chat that seems to go on
// can be neither resumed nor deleted. If the box stops before that, or the error is not transient, the next
// start of the box makes up for it.
func (h *Host) retry(log *slog.Logger, doing string, write func(context.Context) error) {
	try := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), lastWriteLimit)
		defer cancel()
		return write(ctx)
	}
	err := try()
	switch {
	case err == nil:
	case !transient(err):
		log.Error("cannot "+doing+"; the next start of the box will do it", "err", err)
	default:
		log.Error("cannot "+doing+"; trying again until it is done", "err", err)
		// The chat still holds its slot, so h.sessions cannot reach zero here.
		h.sessions.Go(func() { h.retryUntilDone(log, doing, try) })
	}
}

// retryUntilDone tries again until it succeeds, fails for good, or the box stops.
func (h *Host) retryUntilDone(log *slog.Logger, doing string, try func() error) {
	again := time.NewTicker(retryEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-h.ctx.Done():
			return
		}
		switch err := try(); {
		case err == nil:
			log.Info("succeeded after all: " + doing)
			return
		case !transient(err):
			log.Error("cannot "+doing+"; the next start of the box will do it", "err", err)
			return
		}
	}
}
