package speech

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"parley/appliance/contract"
	"parley/appliance/text"
	"parley/internal/limit"
	"parley/internal/unbounded"
)

const (
	// maxQueuedBytes bounds the snippets of one socket that wait to be spoken, in bytes;
	// then its client waits. It is what 25,000 characters in short sentences take, as
	// one request may have: who leaves behind so much is still heard to leave.
	maxQueuedBytes = 256 << 10
	// orderBytes is what a snippet that waits takes besides its text.
	orderBytes = 256
	// sentenceTimeout is how long after its stop a text counts as a whole sentence though
	// nothing follows: longer than the gap between two words of a language model on
	// a slow machine.
	sentenceTimeout = 500 * time.Millisecond
	// idleTimeout is how long a socket may say nothing, as in conversations.
	idleTimeout = 10 * time.Minute
	// socketsAtOnce is how many sockets may be open, idle or not: each costs 100 KB.
	// One account may have three quarters of them.
	socketsAtOnce, socketsOfOne = 128, 96
)

// Out is how what is spoken reaches the client of a socket.
type Out interface {
	Message(ctx context.Context, m contract.TTSMessage) error
	Sound(ctx context.Context, data []byte) error
	Fault(ctx context.Context, f contract.Fault) error
	Close(code int, reason string)
}

// ReserveSocket takes room for one socket of an account. The error is a
// contract.ErrTooMany or a contract.ErrFull.
func (s *Service) ReserveSocket(account string) (release func(), err error) {
	release, err = s.sockets.TryAcquire(account)
	switch err {
	case limit.ErrPerKey:
		return nil, contract.ErrTooMany{What: "this account has too many sockets open for text-to-speech",
			RetryAfter: retryAfter}
	case limit.ErrFull:
		return nil, contract.ErrFull{What: "too many sockets are open for text-to-speech", RetryAfter: retryAfter}
	}
	return release, err
}

// Input speaks what a client sends it bit by bit: each sentence as soon as it is
// memory, one after the other. Its client's goroutine brings the messages, and one
// of its own speaks.
type Input struct {
	service *Service
	out     Out
	mouth   mouth

	ctx      context.Context // ends when nobody listens any more
	cancel   context.CancelCauseFunc
	orders   *unbounded.Queue[order]
	capacity *semaphore.Weighted // for orders, in bytes
	done     chan struct{}

	mu             sync.Mutex // guards what follows, which the client's goroutine and the timer use
	pending        string     // text of which no sentence is whole
	settings       settings
	utteranceIndex int
	closed         bool
	timer          *time.Timer // fires when pending is settled, or the socket idle
	changed        int         // counts messages, so that a timer that fired late is known
}

// settings are how the texts of a socket are said.
type settings struct {
	voice       *contract.VoiceRef
	description string
	speed       float64
}

// enqueuePart is a snippet to be spoken, or what ends what was.
type order struct {
	text           string
	part           text.Stretch // all of text, and how it ends
	settings       settings
	utteranceIndex int
	silence        float64 // seconds behind it
	flushed        bool    // it is the last of a generation
	close          bool    // it is the last of all
}

// bytes is what o takes while it waits.
func (o order) bytes() int64 { return int64(min(orderBytes+len(o.text), maxQueuedBytes)) }

var errSocketClosed = errors.New("the socket is over")

// OpenInput begins to speak for an account what Receive is given. It ends when ctx
// does, too: the box stops.
func (s *Service) OpenInput(ctx context.Context, account, requestID string, c contract.TTSConnect, out Out) *Input {
	in := &Input{
		service:  s,
		out:      out,
		orders:   unbounded.NewQueue[order](),
		capacity: semaphore.NewWeighted(maxQueuedBytes),
		done:     make(chan struct{}),
		settings: settings{speed: 1},
	}
	in.ctx, in.cancel = context.WithCancelCause(ctx)
	in.mouth = newMouth(s, account, requestID, c, out)
	in.timer = time.AfterFunc(idleTimeout, func() { in.onTimer(0) })
	go in.run()
	return in
}

// Done is closed when all is over, after the line was closed.
func (in *Input) Done() <-chan struct{} { return in.done }

// HangUp says that the client is gone.
func (in *Input) HangUp() { in.cancel(errSocketClosed) }

// Receive takes a message of the client. It waits while too much is still to be
// synthesis, and so does the client. What comes behind the one that closes counts for
// nothing.
func (in *Input) Receive(m contract.PublishTTS) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.ctx.Err() != nil:
		return errSocketClosed
	case in.closed: // what was asked for before is still being said
		return nil
	}
	in.changed++
	now := in.settings.updated(m)
	changes := m.Text != "" || m.Description != "" || m.Speed != 0 || m.Voice != nil
	if now != in.settings && in.pending != "" && changes {
		if err := in.flush(0, false); err != nil {
			return err
		}
		now = in.settings.updated(m)
	}
	in.settings = now
	in.pending += m.Text
	var err error
	switch {
	case m.Close:
		in.closed = true
		err = in.flush(m.TrailingSilence, true)
	case m.Flush || m.TrailingSilence > 0:
		err = in.flush(m.TrailingSilence, false)
	default:
		err = in.enqueueSentences()
	}
	in.resetTimer()
	return err
}

func (s settings) updated(m contract.PublishTTS) settings {
	if m.Voice != nil && (s.voice == nil || *m.Voice != *s.voice) {
		s.voice = m.Voice
	}
	if m.Description != "" {
		s.description = m.Description
	}
	if m.Speed != 0 {
		s.speed = m.Speed
	}
	return s
}

// enqueueSentences has the whole sentences spoken, all but the last of what is pending:
// that may go on.
func (in *Input) enqueueSentences() error {
	parts := text.Stretches(in.pending)
	for i := 0; i+1 < len(parts); i++ {
		if err := in.enqueuePart(parts[i], 0, false, false); err != nil {
			return err
		}
	}
	if n := len(parts); n > 1 {
		in.pending = in.pending[parts[n-1].From:]
	}
	return nil
}

// flush has all that is pending spoken, which ends the generation.
func (in *Input) flush(silence float64, end bool) error {
	parts := text.Stretches(in.pending)
	for i, p := range parts {
		last := i == len(parts)-1
		s := 0.0
		if last {
			s = silence
		}
		if err := in.enqueuePart(p, s, last, last && end); err != nil {
			return err
		}
	}
	mute := strings.TrimSpace(in.pending) // where there are no parts
	in.pending = ""
	if len(parts) == 0 {
		if err := in.enqueue(order{
			text:    mute,
			silence: silence,
			flushed: true,
			close:   end,
		}); err != nil {
			return err
		}
	}
	in.utteranceIndex++
	in.settings.description, in.settings.speed = "", 1
	return nil
}

func (in *Input) enqueuePart(p text.Stretch, silence float64, flushed, end bool) error {
	s := in.pending[p.From:p.To]
	p.From, p.To = 0, len(s)
	return in.enqueue(order{s, p, in.settings, in.utteranceIndex, silence, flushed, end})
}

// enqueue hands an order to the mouth, and waits for room.
func (in *Input) enqueue(o order) error {
	if in.capacity.Acquire(in.ctx, o.bytes()) != nil {
		return errSocketClosed
	}
	in.orders.Put(o)
	return nil
}

// encode waits for an order; the error says that the socket is over.
func (in *Input) next() (order, error) {
	for {
		if in.ctx.Err() != nil {
			return order{}, errSocketClosed
		}
		if o, ok := in.orders.Take(); ok {
			in.capacity.Release(o.bytes())
			return o, nil
		}
		select {
		case <-in.orders.More():
		case <-in.ctx.Done():
		}
	}
}

// resetTimer sets the timer for what time alone brings.
func (in *Input) resetTimer() {
	in.timer.Stop()
	after := idleTimeout
	if n := len(text.Stretches(in.pending)); n > 0 && text.EndsSentence(in.pending) {
		after = sentenceTimeout
	}
	changed := in.changed
	in.timer = time.AfterFunc(after, func() { in.onTimer(changed) })
}

// onTimer is called by the timer: a sentence is settled, or the socket idle.
func (in *Input) onTimer(changed int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.changed != changed || in.closed || in.ctx.Err() != nil {
		return
	}
	if text.EndsSentence(in.pending) && len(text.Stretches(in.pending)) > 0 {
		parts := text.Stretches(in.pending)
		for _, p := range parts {
			if in.enqueuePart(p, 0, false, false) != nil {
				return
			}
		}
		in.pending = ""
		in.resetTimer()
		return
	}
	in.closed = true
	_ = in.enqueue(order{flushed: true, close: true})
}
