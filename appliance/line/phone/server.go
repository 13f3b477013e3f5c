package phone

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// Server holds all calls of the box.
type Server struct {
	Parts
	options Options

	mu    sync.Mutex
	calls map[string]*Call
	ended []contract.PhoneCall // the newest first
	over  bool
	open  sync.WaitGroup

	closing  context.Context // ends when calls without a chat are to end
	close    context.CancelFunc
	stopping context.Context // ends when what is left is to be dropped
	stop     context.CancelFunc
}

// New returns a Server without calls.
func New(p Parts, o Options) *Server {
	s := &Server{Parts: p, options: o, calls: map[string]*Call{}}
	s.closing, s.close = context.WithCancel(context.Background())
	s.stopping, s.stop = context.WithCancel(context.Background())
	return s
}

// Stop lets no more calls begin, and ends those that have no chat. The host ends the chats.
func (s *Server) Stop() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.close()
}

// Close waits for the calls to end; the host ends their chats. When ctx ends, Close drops the
// remaining calls.
func (s *Server) Close(ctx context.Context) {
	s.Stop()
	defer context.AfterFunc(ctx, s.stop)()
	s.open.Wait()
	s.stop()
}

// errStopping refuses calls while the box stops.
var errStopping = contract.ErrUnavailable{Why: "the box is stopping", RetryAfter: 5 * time.Second}

// manyRetry is when to try again on a box with maxCalls: a call that was handed over lasts minutes.
const manyRetry = time.Minute

// add registers a call until it is forgotten.
func (s *Server) add(c *Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errStopping
	}
	if s.withoutChat() >= maxCalls {
		return contract.ErrFull{What: fmt.Sprintf("the box has %d calls besides its chats", maxCalls),
			RetryAfter: manyRetry}
	}
	c.server = s
	c.id = contract.NewID()
	c.call.CallID = c.id
	c.state = contract.CallRinging
	c.started = time.Now()
	c.keys = make(chan rune, maxDigits)
	c.changed = make(chan struct{}, 1)
	c.said = make(chan struct{}, 1)
	c.errs = line.ErrorLimiter{RequestID: c.requestID}
	c.log = s.Log.With("call", c.id)
	c.lifecycle = line.NewLifecycle(s.stopping, c.log, nil)
	s.calls[c.id] = c
	s.open.Add(1)
	return nil
}

// withoutChat counts the calls that have no chat. The caller holds s.mu.
func (s *Server) withoutChat() int {
	n := 0
	for _, c := range s.calls {
		if c.live() == nil {
			n++
		}
	}
	return n
}

// forget removes a call that is over.
func (s *Server) forget(c *Call) {
	defer s.open.Done()
	c.lifecycle.Drop(line.ErrClosed)
	c.lifecycle.Wait()
	c.mu.Lock()
	c.state, c.endedOn, c.endedWhy = contract.CallEnded, time.Now(), c.why()
	c.mu.Unlock()
	last := c.status()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.id)
	s.ended = slices.Insert(s.ended, 0, last)
	s.ended = s.ended[:min(len(s.ended), contract.MaxEndedPhoneCalls)]
	c.log.Info("call ended", "why", last.EndReason, "seconds", last.DurationSecs)
}

// find returns a live call.
func (s *Server) find(id string) (*Call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[id]; c != nil && c.lifecycle.Gone().Err() == nil {
		return c, nil
	}
	return nil, contract.ErrNotFound{What: "live call", ID: id}
}

// HangUp ends a call.
func (s *Server) HangUp(id string) error {
	c, err := s.find(id)
	if err != nil {
		return err
	}
	c.lifecycle.Drop(errHungUp)
	return nil
}

// Calls returns the live calls, the oldest first, and the newest calls that have ended, the newest first.
func (s *Server) Calls() (live, ended []contract.PhoneCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live = make([]contract.PhoneCall, 0, len(s.calls))
	for _, c := range s.calls {
		live = append(live, c.status())
	}
	slices.SortFunc(live, func(a, b contract.PhoneCall) int {
		return cmp.Or(cmp.Compare(a.StartedOn, b.StartedOn), cmp.Compare(a.CallID, b.CallID))
	})
	return live, slices.Clone(s.ended)
}

// status returns the record of the call.
func (c *Call) status() contract.PhoneCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, to := c.call.CallerNumber, c.call.To
	if c.call.Direction == contract.Outbound {
		from = ""
	}
	r := contract.PhoneCall{
		CallID:     c.id,
		ChatID:     c.chatID,
		Direction:  c.call.Direction,
		State:      c.state,
		Trunk:      c.call.Trunk,
		From:       from,
		To:         to,
		Account:    c.assistant.Name,
		ConfigID:   c.assistant.Settings.ConfigID,
		AnsweredBy: c.call.AnsweredBy,
		StartedOn:  c.started.UnixMilli(),
		OnHold:     c.held,
		EndReason:  c.endedWhy,
	}
	until := time.Now()
	if !c.endedOn.IsZero() {
		until = c.endedOn
		r.EndedOn = c.endedOn.UnixMilli()
	}
	if !c.answered.IsZero() {
		r.AnsweredOn = c.answered.UnixMilli()
		r.DurationSecs = int(until.Sub(c.answered).Seconds())
		r.PhoneMedia = c.person.leg.Stats()
	}
	return r
}
