package webrtc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	pion "github.com/pion/webrtc/v4"

	"parley/appliance/line"
	"parley/internal/unbounded"
)

const (
	// channelLabel is the label of the data channel for messages.
	channelLabel = "chat"
	// maxUnsent bounds the bytes in the channel's own buffer. The next message waits until
	// it is below.
	maxUnsent = 256 << 10
	// maxQueued bounds the bytes of queued messages, as for a WebSocket.
	maxQueued = 8 << 20
)

var errTooLong = errors.New("a message is longer than a data channel takes")

// dataChannel queues the messages to the client, until its channel is open and while its
// buffer is full.
type dataChannel struct {
	wanted  bool // the client's offer has data channels
	timeout time.Duration
	fail    func(error)
	receive func(pion.DataChannelMessage)

	mu      sync.Mutex
	channel *pion.DataChannel
	ready   chan struct{} // closed when the channel is open
	low     chan struct{} // signals send that the channel's buffer has room
	less    chan struct{} // signals goodbye that less waits
	weight  int
	queue   *unbounded.Queue[[]byte]
	ended   chan struct{}
	endOnce sync.Once
	sent    chan struct{} // closed when send has returned
}

func newDataChannel(wanted bool, timeout time.Duration) *dataChannel {
	return &dataChannel{
		wanted:  wanted,
		timeout: timeout,
		ready:   make(chan struct{}),
		low:     make(chan struct{}, 1),
		less:    make(chan struct{}, 1),
		queue:   unbounded.NewQueue[[]byte](),
		ended:   make(chan struct{}),
		sent:    make(chan struct{}),
	}
}

// open takes the client's channel. It returns false if there is one already.
func (w *dataChannel) open(d *pion.DataChannel) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.channel != nil {
		return false
	}
	w.channel = d
	d.SetBufferedAmountLowThreshold(maxUnsent / 2)
	d.OnBufferedAmountLow(func() {
		signal(w.low)
		signal(w.less)
	})
	d.OnMessage(w.receive)
	d.OnClose(func() { w.fail(errChannel) }) // closed by the client during the call
	d.OnOpen(func() { close(w.ready) })
	return true
}

// put queues a message. It is dropped if the client has no channel.
func (w *dataChannel) put(data []byte) error {
	if !w.wanted {
		return nil
	}
	if len(data) > maxMessage {
		return fmt.Errorf("%w: %d bytes, and %d are the most", errTooLong, len(data), maxMessage)
	}
	w.mu.Lock()
	w.weight += len(data)
	full := w.weight > maxQueued
	w.mu.Unlock()
	if full {
		return line.ErrTooSlow
	}
	w.queue.Put(data)
	return nil
}

// send sends the queued messages as fast as the client takes them, until close.
func (w *dataChannel) send() {
	defer close(w.sent)
	select {
	case <-w.ready:
	case <-w.ended:
		return
	}
	for {
		select {
		case <-w.ended:
			return
		case <-w.queue.More():
		}
		for {
			data, ok := w.queue.Take()
			if !ok {
				break
			}
			if err := w.sendOne(data); err != nil {
				w.fail(err)
				return
			}
			signal(w.less)
		}
	}
}

func (w *dataChannel) sendOne(data []byte) error {
	defer func() { // after sending, or goodbye would see that nothing waits
		w.mu.Lock()
		w.weight -= len(data)
		w.mu.Unlock()
	}()
	late := time.NewTimer(w.timeout)
	defer late.Stop()
	for w.channel.BufferedAmount() > maxUnsent {
		select {
		case <-w.low:
		case <-late.C:
			return line.ErrTooSlow
		case <-w.ended:
			return line.ErrClosed
		}
	}
	return w.channel.SendText(string(data))
}

// callEnded is the last message of a call. It corresponds to the close frame of a
// WebSocket.
type callEnded struct {
	Type   string `json:"type"` // "call_ended"
	Code   int    `json:"code"` // close code of a WebSocket
	Reason string `json:"reason"`
}

// goodbye sends how the call ended, and waits until the client has received everything or
// ctx ends.
func (w *dataChannel) goodbye(ctx context.Context, code int, reason string) {
	data, err := json.Marshal(callEnded{"call_ended", code, reason})
	if err != nil || w.put(data) != nil || !w.wanted {
		return
	}
	select {
	case <-w.ready:
	case <-ctx.Done():
		return
	}
	// The buffer is empty when the client has acknowledged everything.
	w.channel.SetBufferedAmountLowThreshold(0)
	for w.waits() {
		select {
		case <-w.less:
		case <-ctx.Done():
			return
		}
	}
}

// waits reports whether messages have not reached the client.
func (w *dataChannel) waits() bool {
	w.mu.Lock()
	left := w.weight
	w.mu.Unlock()
	return left > 0 || w.channel.BufferedAmount() > 0
}

// signal signals c without blocking.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close ends send.
func (w *dataChannel) close() {
	w.endOnce.Do(func() { close(w.ended) })
}
