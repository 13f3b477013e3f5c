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

	"parley/appliance/chat/reply"
	"parley/appliance/chat/turn"
	"parley/appliance/contract"
	"parley/appliance/engine"
	"parley/store"
)

// Parts are what a Host makes conversations of.
type Parts struct {
	Detector    engine.VoiceDetector
	Transcriber engine.Transcriber
	Model       engine.LanguageModel
	Voices      reply.Voices
	Records     Records
	Recordings  Recordings // nil where chats are not recorded
	Configs     Configs
	Models      Models // those that configs name; Model is the default
	// StrictModels refuses a chat whose config names a model that Models has
	// not; else the default answers.
	StrictModels bool
	Defaults     turn.Settings
	Log          *slog.Logger
	// MaxChats is how many conversations there may be at once; one more is
	// refused rather than all of them made late.
	MaxChats int
	// Observe is told how long the stages of a turn took; nil if nobody asks.
	Observe func(Stage, time.Duration)
}

// Host opens conversations and knows those that are open.
type Host struct {
	Parts

	running context.Context // until Stop
	stop    context.CancelFunc

	mu       sync.Mutex
	seats    int
	stopping bool
	open     sync.WaitGroup
}

// NewHost returns a Host of parts; ctx gives its conversations their values.
func NewHost(ctx context.Context, parts Parts) *Host {
	h := &Host{Parts: parts}
	h.running, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.open.Go(h.readAhead)
	return h
}

// readAhead has the model read the box's own prompt before the first chat comes;
// later ones find it read.
func (h *Host) readAhead() {
	first := turn.NewState(h.Defaults, time.Now(), nil)
	if err := reply.ReadAhead(h.running, h.Model, first.Conversation()); err != nil && h.running.Err() == nil {
		h.Log.Warn("cannot read the system prompt ahead", "err", err)
	}
}

// fullRetry is when a box that is full is worth another try: chats are minutes
// long, so some seat among several is free in half of one.
const fullRetry = 30 * time.Second

// Seat is room for one conversation, taken before the line is.
type Seat struct {
	host *Host
	once sync.Once
}

// Reserve takes room for a conversation. Without any it returns a
// contract.ErrFull.
func (h *Host) Reserve() (*Seat, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopping || h.seats >= h.MaxChats {
		return nil, contract.ErrFull{RetryAfter: fullRetry}
	}
	h.seats++
	h.open.Add(1)
	return &Seat{host: h}, nil
}

// Release gives the seat back; the session does it at its end.
func (s *Seat) Release() {
	s.once.Do(func() {
		s.host.mu.Lock()
		s.host.seats--
		s.host.mu.Unlock()
		s.host.open.Done()
	})
}

// Live is how many conversations there are.
func (h *Host) Live() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seats
}

// Stop ends all conversations and waits until they are over, at most until ctx
// ends. No new ones begin.
func (h *Host) Stop(ctx context.Context) error {
	h.mu.Lock()
	h.stopping = true
	h.mu.Unlock()
	h.stop()
	over := make(chan struct{})
	go func() { h.open.Wait(); close(over) }()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d chats did not end in time: %w", h.Live(), context.Cause(ctx))
	}
}

// retryEvery is how often it is tried again to write what must be written: a
// disk that was full has room again when somebody made some.
const retryEvery = 5 * time.Second

// retry writes how a chat ended, now or as soon as the disk takes it: a chat
// that seems to go on can be neither resumed nor deleted. What is not written
// before the box stops, its next start makes good.
func (h *Host) retry(log *slog.Logger, doing string, write func(context.Context) error) {
	try := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), goodbye)
		defer cancel()
		return write(ctx)
	}
	err := try()
	if err == nil {
		return
	}
	log.Error("cannot "+doing+"; trying again until it is done", "err", err)
	h.open.Go(func() { // the chat's seat is still taken, so nobody waits for the last yet
		again := time.NewTicker(retryEvery)
		defer again.Stop()
		for err != nil && !errors.Is(err, store.ErrNotFound) {
			select {
			case <-again.C:
				err = try()
			case <-h.running.Done():
				return
			}
		}
		log.Info("could " + doing + " after all")
	})
}
