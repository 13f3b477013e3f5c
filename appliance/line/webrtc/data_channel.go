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
	// channelLabel is that of the data channel which carries the messages.
	channelLabel = "chat"
	// maxUnsent is how many bytes may lie in the channel's own buffer: beyond it
	// the next message waits for the client.
	maxUnsent = 256 << 10
	// maxQueued is how many bytes of messages may wait for that: as much as a
	// socket's line lets wait.
	maxQueued = 8 << 20
)

var errTooLong = errors.New("a message is longer than a data channel takes")

// channel are the messages to the client, which wait for its channel.
type dataChannel struct {
	wanted  bool // the client's offer has data channels
	timeout time.Duration
	fail    func(error)
	receive func(pion.DataChannelMessage)

	mu      sync.Mutex
	channel *pion.DataChannel
	ready   chan struct{} // closed when the channel is open
	low     chan struct{} // has one when its buffer has room, for send
	less    chan struct{} // and when less waits, for goodbye
	weight  int
	queue   *unbounded.Queue[[]byte]
	ended   chan struct{}
	endOnce sync.Once
	sent    chan struct{} // closed when send has ended
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

// open takes the client's channel. False means that there is one already.
func (w *dataChannel) open(d *pion.DataChannel) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.channel != nil {
		return false
	}
	w.channel = d
	d.SetBufferedAmountLowThreshold(maxUnsent / 2)
	d.OnBufferedAmountLow(func() {
		marshal(w.low)
		marshal(w.less)
	})
	d.OnMessage(w.receive)
	d.OnClose(func() { w.fail(errChannel) }) // by the client, in the middle of a call
	d.OnOpen(func() { close(w.ready) })
	return true
}

// put queues a message. Without a channel, now or to come, it is dropped.
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

// replaceTrack sends what is queued, as the client takes it, until the end.
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
			marshal(w.less)
		}
	}
}

func (w *dataChannel) sendOne(data []byte) error {
	defer func() { // behind the sending: else goodbye would think for a moment that all is sent
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

// callEnded is the last message of a call: what a socket tells in its close
// frame.
type callEnded struct {
	Type   string `json:"type"` // "call_ended"
	Code   int    `json:"code"` // the close code of a socket
	Reason string `json:"reason"`
}

// goodbye says how the call ended, and waits until the client has all of it or
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
	// An empty buffer means that the client has said that it has all.
	w.channel.SetBufferedAmountLowThreshold(0)
	for w.waits() {
		select {
		case <-w.less:
		case <-ctx.Done():
			return
		}
	}
}

// hasPacket tells whether the client has not got all of it.
func (w *dataChannel) waits() bool {
	w.mu.Lock()
	left := w.weight
	w.mu.Unlock()
	return left > 0 || w.channel.BufferedAmount() > 0
}

// marshal has something known to who waits for it, now or later.
func marshal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// close ends send.
func (w *dataChannel) close() {
	w.endOnce.Do(func() { close(w.ended) })
}
