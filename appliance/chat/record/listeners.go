package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

const (
	// maxReplayMessages and maxReplayBytes bound what is stored of a chat for listeners that join later. Half
	// an hour of talk, the longest there is, is some 300 messages; 1 MiB is 4,000 of the shortest ones.
	maxReplayMessages = 1024
	maxReplayBytes    = 1 << 20
	// maxBehindMessages is how many messages may wait for a listener, not counting the replay, and
	// maxBehindSamples how much sound: two minutes. A listener that is further behind is not listening.
	maxBehindMessages = 256
	maxBehindSamples  = 120 * contract.OutputRateHz
	// maxListeners bounds the memory that listeners hold. A chat has a few servers and screens.
	maxListeners = 16
	// listenRetry is the Retry-After when there are too many listeners: one may have left.
	listenRetry = 30 * time.Second
)

// Reasons why a Listener receives nothing more.
var (
	ErrOver   = errors.New("the chat is over")
	ErrBehind = errors.New("the listener takes messages more slowly than the chat sends them, and was disconnected")
	ErrLeft   = errors.New("the listener has left")
)

// audience holds the listeners of a chat. None of its methods block, so no listener slows the chat.
type audience struct {
	mu        sync.Mutex
	replay    []contract.ServerMessage // the first message of the chat, and the newest
	bytes     int                      // of replay
	dropped   int                      // messages that are no longer in replay
	listeners []*Listener
	over      bool
}

// A Listener receives the messages and the sound of a chat, after the history has stored them.
type Listener struct {
	audience *audience
	sound    bool
	missed   int           // messages dropped from the replay before the listener joined
	more     chan struct{} // buffered; signals that waiting or err has changed

	// The fields below are guarded by audience.mu.
	waiting  []connection.Copy
	replayed int // how many in waiting are from the replay
	samples  int // of the sound in waiting
	err      error
}

// listen adds a listener. It receives the replay, then everything new.
func (a *audience) listen(sound bool) (*Listener, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return nil, ErrOver
	}
	if n := len(a.listeners); n >= maxListeners {
		return nil, contract.ErrTooMany{What: fmt.Sprintf("%d follow this chat, as many as may", n),
			RetryAfter: listenRetry}
	}
	l := &Listener{
		audience: a,
		sound:    sound,
		missed:   a.dropped,
		more:     make(chan struct{}, 1),
		replayed: len(a.replay),
	}
	for _, m := range a.replay {
		l.waiting = append(l.waiting, connection.Copy{Message: m})
	}
	l.wake()
	a.listeners = append(a.listeners, l)
	return l, nil
}

// message gives a message to all listeners.
func (a *audience) message(m contract.ServerMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.store(m)
	a.give(connection.Copy{Message: m})
}

// play gives sound to the listeners that receive sound.
func (a *audience) play(s contract.Sound) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.give(connection.Copy{Sound: &s})
}

// cut drops the sound that waits for the listeners, and sends them the cut.
func (a *audience) cut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.listeners {
		l.dropSound()
	}
	a.give(connection.Copy{Cut: true})
}

func (a *audience) give(c connection.Copy) {
	a.listeners = slices.DeleteFunc(a.listeners, func(l *Listener) bool { return !l.put(c) })
}

// store adds a message to the replay, which holds the first message, chat_metadata, and the newest ones.
// Interim transcripts are not stored.
func (a *audience) store(m contract.ServerMessage) {
	if u, ok := m.(contract.UserMessage); ok && u.Interim {
		return
	}
	a.replay = append(a.replay, m)
	a.bytes += overhead + sizeOf(m)
	for len(a.replay) > maxReplayMessages || a.bytes > maxReplayBytes && len(a.replay) > 2 {
		a.bytes -= overhead + sizeOf(a.replay[1])
		a.replay = slices.Delete(a.replay, 1, 2)
		a.dropped++
	}
}

// end ends the chat for all listeners. They still receive the copies that wait for them.
func (a *audience) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	for _, l := range a.listeners {
		l.end(io.EOF)
	}
	a.listeners, a.replay = nil, nil
}

// put queues a copy for the listener. It returns false if the listener is too far behind and was ended.
func (l *Listener) put(c connection.Copy) bool {
	if (c.Sound != nil || c.Cut) && !l.sound {
		return true
	}
	if c.Sound != nil {
		l.samples += len(c.Sound.PCM)
	}
	if len(l.waiting)-l.replayed >= maxBehindMessages || l.samples > maxBehindSamples {
		l.end(ErrBehind)
		return false
	}
	l.waiting = append(l.waiting, c)
	l.wake()
	return true
}

// dropSound drops the queued sound.
func (l *Listener) dropSound() {
	l.waiting = slices.DeleteFunc(l.waiting, func(c connection.Copy) bool { return c.Sound != nil || c.Cut })
	l.samples = 0
}

func (l *Listener) end(why error) {
	if l.err == nil {
		l.err = why
		l.wake()
	}
}

func (l *Listener) wake() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// Missed returns how many earlier messages are no longer stored. They followed the first message,
// chat_metadata.
func (l *Listener) Missed() int { return l.missed }

// Next returns the next copy, waiting until ctx ends. After the last copy, the error says why there are no
// more: io.EOF when the chat is over, ErrBehind, ErrLeft, or that of ctx. Only one goroutine may call it.
func (l *Listener) Next(ctx context.Context) (connection.Copy, error) {
	for {
		if c, ok, err := l.take(); ok || err != nil {
			return c, err
		}
		select {
		case <-l.more:
		case <-ctx.Done():
			return connection.Copy{}, ctx.Err()
		}
	}
}

func (l *Listener) take() (c connection.Copy, ok bool, err error) {
	l.audience.mu.Lock()
	defer l.audience.mu.Unlock()
	if len(l.waiting) == 0 {
		return c, false, l.err
	}
	c = l.waiting[0]
	l.waiting[0] = connection.Copy{} // release the sound
	l.waiting = l.waiting[1:]
	l.replayed = max(0, l.replayed-1)
	if c.Sound != nil {
		l.samples -= len(c.Sound.PCM)
	}
	return c, true, nil
}

// Close ends the listener and drops its queued copies.
func (l *Listener) Close() {
	a := l.audience
	a.mu.Lock()
	defer a.mu.Unlock()
	l.waiting = nil
	l.end(ErrLeft)
	a.listeners = slices.DeleteFunc(a.listeners, func(other *Listener) bool { return other == l })
}
