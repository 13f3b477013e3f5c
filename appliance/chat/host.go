// Package chat holds live conversations: who is live, what a line is, and the
// one goroutine that owns a conversation. Whose turn it is and what follows is
// in turn; what is heard, answered and kept in ear, reply and record.
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

// AccountVoices opens the voices that an account may use, by name or id; the empty
// name is the default.
type AccountVoices interface {
	// Voice returns the voice. It may take seconds, or until ctx ends.
	Voice(ctx context.Context, account, name string) (engine.Synthesizer, error)
	// Prepare says at once whether there is such a voice, and has it loaded
	// beside everything else. The error says which there are.
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

// Parts are what a Host makes conversations of.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	TurnEnd     ear.TurnEnd // nil where it cannot be had: then silence alone ends a turn
	Model       engine.LanguageModel
	Voices      AccountVoices
	// Pronunciation says how what is spoken for an account is read; nil: as the voice
	// does.
	Pronunciation func(ctx context.Context, account string) text.Options
	Records       Records
	Recordings    Recordings // nil where chats are not recorded
	// Outbox is what keeps, of chats whose clients want nothing of them kept, what
	// webhooks are to be told; nil: nobody is told of them.
	Outbox  record.Outbox
	Configs Configs
	Models  Models        // those that configs name; Model is the default
	Tools   reply.Toolbox // those of the box; nil where it has none
	Plugins Plugins       // of the box; nil where it has none
	// StrictModels refuses a chat whose config names a model that Models has
	// not; else the default answers.
	StrictModels bool
	Defaults     turn.Settings
	// Rules are what the box adds for a model; nil: nothing for any.
	Rules func(engine.LanguageModel) turn.Rules
	Log   *slog.Logger
	// MaxChats is how many conversations there may be at once; one more is
	// refused rather than all of them made late.
	MaxChats int
	// MaxAddedDelay is by how much answers may come later than the silence that ends a
	// turn: while more than half of the conversations wait longer, none more
	// begins. 0: however late they are.
	MaxAddedDelay time.Duration
	// ChatsPerAccount is how many of them one account may have; 0 is all. Alone,
	// if it is not nil, tells whether there is no other account to leave room
	// for: then it may have all.
	ChatsPerAccount int
	SoleAccount     func(account string) bool
	// Observe is told how long the stages of a turn took; nil if nobody asks.
	Observe func(Stage, time.Duration)
	// Expression measures feelings; nil where nobody is to. TellFeelings says
	// which models are told of those that stand out in what the user says; nil:
	// none.
	Expression   Expression
	TellFeelings func(engine.LanguageModel) bool
}

// Host opens conversations and knows those that are open.
type Host struct {
	Parts

	ctx  context.Context // until Stop
	stop context.CancelFunc

	mu               sync.Mutex
	slots            int
	occupancyChanged chan struct{}       // closed when seats becomes 0, or is 0 no more
	accounts         map[string]int      // seats of each account that has any
	live             map[string]*Session // by chat
	groups           map[string]*Session // by chat group, until nothing of them runs any more
	delays           delays
	throughputs      map[engine.LanguageModel]*reply.Throughput
	stopping         bool

	sessions group // sessions and what goes on after them; and every seat counts as one
	stopper  group // for open, in Stop
}

// NewHost returns a Host of parts; ctx gives its conversations their values.
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

// fullRetry is when a box that is full is worth another try: chats are minutes
// long, so some seat among several is free in half of one.
const fullRetry = 30 * time.Second

// Slot is room for one conversation, taken before the line is.
type Slot struct {
	host    *Host
	account string
	once    sync.Once
}

// Reserve takes room for a conversation of an account. Without any on the box, or
// while the others are answered late, it returns a contract.ErrFull; if the account
// has its share, an ErrTooMany.
func (h *Host) Reserve(account string) (*Slot, error) {
	if err := h.refuseIfLate(); err != nil {
		return nil, err
	}
	seat, err := h.reserve(account, h.ChatsPerAccount)
	if _, much := errors.AsType[contract.ErrTooMany](err); much && h.SoleAccount != nil && h.SoleAccount(account) {
		return h.reserve(account, 0)
	}
	return seat, err
}

// reserve takes a seat for an account that may have so many; 0 is all.
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

// countSlots counts one more seat, or one less. The caller holds h.mu.
func (h *Host) countSlots(more int) {
	before := h.slots
	h.slots += more
	if before == 0 || h.slots == 0 {
		close(h.occupancyChanged)
		h.occupancyChanged = make(chan struct{})
	}
}

// Release gives the seat back; the session does it at its end.
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

// stageTimer is how quick a model has lately been.
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

// RealTime is how many conversations there are.
func (h *Host) Running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.slots
}

// Stop ends all conversations and waits until they are over, at most until ctx
// ends. No new ones begin.
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

// retryEvery is how often it is tried again to write what must be written: a
// disk that was full has room again when somebody made some.
const retryEvery = 5 * time.Second

// transient are the errors of a write that may be none the next time: somebody
// made room on the disk, or another process has let go of the database.
func transient(err error) bool {
	for _, may := range []error{store.ErrFull, store.ErrBusy, store.ErrReadOnly, context.DeadlineExceeded} {
		if errors.Is(err, may) {
			return true
		}
	}
	return false
}

// retry writes how a chat ended, now or as soon as the disk takes it: a chat
// that seems to go on can be neither resumed nor deleted. What is not written
// before the box stops, its next start makes good. So it does where it is of no
// use to try again.
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
		log.Error("cannot "+doing+"; the next start of the box will see to it", "err", err)
	default:
		log.Error("cannot "+doing+"; trying again until it is done", "err", err)
		// The chat's seat is still taken, so nobody waits for the last yet.
		h.sessions.Go(func() { h.retryUntilDone(log, doing, try) })
	}
}

// retryUntilDone tries until it is done, or of no use any more, or the box stops.
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
			log.Info("could " + doing + " after all")
			return
		case !transient(err):
			log.Error("cannot "+doing+"; the next start of the box will see to it", "err", err)
			return
		}
	}
}
