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
	// maxQueuedBytes bounds the size of the queued snippets of one socket; beyond it, Receive
	// blocks. It holds the 25,000 characters of the largest request in short sentences: a client
	// may send that many and leave, and a blocked Receive would not notice it.
	maxQueuedBytes = 256 << 10
	// orderOverhead is the memory of a queued order in addition to its text.
	orderOverhead = 256
	// sentenceTimeout is how long after its full stop a text counts as a complete sentence
	// although nothing follows: longer than the gap between two words of a language model on a
	// slow machine.
	sentenceTimeout = 500 * time.Millisecond
	// idleTimeout is how long a socket may be idle, as in conversations.
	idleTimeout = 10 * time.Minute
	// maxSockets is how many sockets may be open, idle or not: each costs 100 KB. One
	// account may open three quarters of them.
	maxSockets, socketsPerAccount = 128, 96
)

// Out delivers messages and sound to the client of a socket.
type Out interface {
	Message(ctx context.Context, m contract.TTSMessage) error
	Sound(ctx context.Context, data []byte) error
	Fault(ctx context.Context, f contract.Fault) error
	Close(code int, reason string)
}

// ReserveSocket admits one socket of an account. The error is a contract.ErrTooMany or a
// contract.ErrFull.
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

// Input synthesises text that a client streams: each sentence as soon as it is complete, one
// after the other. The client's goroutine calls Receive, and a goroutine of the Input speaks.
type Input struct {
	service *Service
	out     Out
	mouth   mouth

	ctx      context.Context // ends when the client is gone
	cancel   context.CancelCauseFunc
	orders   *unbounded.Queue[order]
	capacity *semaphore.Weighted // for queued orders, in bytes
	done     chan struct{}

	mu             sync.Mutex // guards the fields below, which the client's goroutine and the timer use
	pending        string     // text without a complete sentence
	settings       settings
	utteranceIndex int
	closed         bool
	timer          *time.Timer // fires when the pending sentence counts as complete, or the socket is idle
	changed        int         // counts messages, to detect a timer that fired late
}

// settings are the voice, manner and speed of the next texts.
type settings struct {
	voice       *contract.VoiceRef
	description string
	speed       float64
}

// order is one piece of work for the mouth: a snippet to be synthesised, or the end of a generation.
type order struct {
	text           string
	part           text.Segment // all of text, and how it ends
	settings       settings
	utteranceIndex int
	silence        float64 // seconds after the snippet
	flushed        bool    // the last order of a generation
	close          bool    // the last order of the socket
}

// bytes returns the memory of a queued order.
func (o order) bytes() int64 { return int64(min(orderOverhead+len(o.text), maxQueuedBytes)) }

var errSocketClosed = errors.New("the socket has ended")

// OpenInput returns an Input that synthesises the text that Receive is given, for an account. It
// ends with ctx, when the box stops.
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

// Done is closed after everything has ended and the line is closed.
func (in *Input) Done() <-chan struct{} { return in.done }

// HangUp reports that the client is gone.
func (in *Input) HangUp() { in.cancel(errSocketClosed) }

// Receive handles a message of the client. It blocks while too much text is queued, which slows the
// client down. Messages after the one with Close are ignored.
func (in *Input) Receive(m contract.PublishTTS) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.ctx.Err() != nil:
		return errSocketClosed
	case in.closed: // earlier text is still being synthesised
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

// enqueueSentences queues the complete sentences, except the last part of the pending text,
// which may continue.
func (in *Input) enqueueSentences() error {
	parts := text.Segments(in.pending)
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

// flush queues all of the pending text, which ends the generation.
func (in *Input) flush(silence float64, end bool) error {
	parts := text.Segments(in.pending)
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
	rest := strings.TrimSpace(in.pending) // signs that cannot be spoken, if there are no parts
	in.pending = ""
	if len(parts) == 0 {
		if err := in.enqueue(order{
			text:    rest,
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

func (in *Input) enqueuePart(p text.Segment, silence float64, flushed, end bool) error {
	s := in.pending[p.From:p.To]
	p.From, p.To = 0, len(s)
	return in.enqueue(order{s, p, in.settings, in.utteranceIndex, silence, flushed, end})
}

// enqueue passes an order to the mouth, and waits for capacity.
func (in *Input) enqueue(o order) error {
	if in.capacity.Acquire(in.ctx, o.bytes()) != nil {
		return errSocketClosed
	}
	in.orders.Put(o)
	return nil
}

// next waits for an order. It returns an error when the socket has ended.
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

// resetTimer restarts the timer for a complete sentence or an idle socket.
func (in *Input) resetTimer() {
	in.timer.Stop()
	after := idleTimeout
	if n := len(text.Segments(in.pending)); n > 0 && text.EndsSentence(in.pending) {
		after = sentenceTimeout
	}
	changed := in.changed
	in.timer = time.AfterFunc(after, func() { in.onTimer(changed) })
}

// onTimer queues the pending sentence, or closes the idle socket.
func (in *Input) onTimer(changed int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.changed != changed || in.closed || in.ctx.Err() != nil {
		return
	}
	if text.EndsSentence(in.pending) && len(text.Segments(in.pending)) > 0 {
		parts := text.Segments(in.pending)
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
