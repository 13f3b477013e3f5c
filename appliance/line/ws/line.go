package ws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"golang.org/x/sync/semaphore"

	"parley/appliance/contract"
	"parley/appliance/line"
	"parley/appliance/line/decode"
	"parley/internal/unbounded"
)

const (
	// queueBytes bounds the messages that wait for the network: a minute of speech, at 128
	// KB of base64 a second.
	queueBytes = 8 << 20
	// minQueueWeight is the weight of the smallest message, which bounds their number.
	minQueueWeight = 8 << 10
	// maxReason is the maximum length of the reason in a close frame (RFC 6455, section
	// 5.5).
	maxReason = 123
)

var errNoPong = errors.New("the client gives no sign of life")

// Line is a client's WebSocket. It implements connection.Line.
type Line struct {
	conn       *websocket.Conn
	raw        net.Conn // below conn
	socket     socket   // below raw
	timing     Timing
	maxMessage int64 // largest message from the client, in bytes
	// enlarge, if not nil, waits until a message may take more memory than maxIdleBuffer.
	enlarge         func(context.Context) (release func(), err error)
	unknownMessages []string // types that the client's library does not know
	log             *slog.Logger
	lifecycle       *line.Lifecycle

	audio decode.Stream // used by the reader

	errs line.ErrorLimiter // used by the sender
	// chunks is the format of a text-to-speech socket, where errors are chunks; empty for a
	// chat.
	chunks   contract.AudioFormat
	clip     clip                     // used by the sender: the newest sound
	queue    *unbounded.Queue[queued] // to the writer; bounded by capacity
	capacity *semaphore.Weighted
	sound    soundQueue // the part of queue that is sound

	writing atomic.Bool // a message is being written to the network
	// listening is the time, in Unix nanoseconds, since which the reader waits for the
	// client; 0 while it processes a message.
	listening atomic.Int64
	alive     *time.Timer // runs keepAlive

	working  sync.Mutex
	writes   bool // a writer is running
	finished bool // no goroutine may start any more
}

// queued is a message in the queue.
type queued struct {
	data   []byte
	binary bool
	sound  int   // number of samples of a chat's sound, which can be cut
	cuts   int64 // value of soundQueue.cuts when the sound came
}

// Send queues a message for the client. It returns at once unless the queue is full; then
// it waits, and a client that reads nothing is dropped. One goroutine at a time calls it.
func (l *Line) Send(ctx context.Context, m contract.ServerMessage) error {
	m, tooOften := l.errs.Note(m)
	switch m.(type) {
	case contract.AssistantMessage, contract.AssistantEnd: // ends the sound before them
		if err := l.endClip(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(l.unknownMessages, m.MessageType()) {
		return nil
	}
	var message any = m
	if e, ok := m.(contract.WebSocketError); ok && l.chunks != "" {
		message = e.Chunk(l.chunks)
	}
	data, err := contract.Marshal(message)
	if err != nil {
		return err
	}
	if err := l.enqueue(ctx, queued{data: data}); err != nil {
		return err
	}
	if tooOften != nil {
		l.Close(contract.ClosePolicy, tooOften.Error())
		return fmt.Errorf("%w after %w", line.ErrClosed, tooOften)
	}
	return nil
}

func (l *Line) enqueue(ctx context.Context, q queued) error {
	if err := l.lifecycle.Err(); err != nil {
		return err
	}
	if !l.capacity.TryAcquire(weight(q.data)) {
		if err := l.waitForCapacity(ctx, weight(q.data)); err != nil {
			return err
		}
	}
	l.queue.Put(q)
	l.wake()
	return nil
}

func (l *Line) waitForCapacity(ctx context.Context, n int64) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(l.lifecycle.Gone(), cancel)
	defer stop()
	if l.capacity.Acquire(waiting, n) == nil {
		return nil
	}
	return cmp.Or(l.lifecycle.Err(), ctx.Err())
}

// weight is the share of queueBytes that a message takes. A message larger than the queue
// passes when the queue is empty.
func weight(data []byte) int64 {
	return int64(min(max(len(data), minQueueWeight), queueBytes))
}

// Close closes the line after what is queued. It returns at once; only the first call
// counts.
func (l *Line) Close(code int, reason string) {
	if l.lifecycle.Close(code, truncateReason(reason)) {
		l.wake()
	}
}

// truncateReason cuts a reason to the length that a close frame holds, at a character
// boundary.
func truncateReason(reason string) string {
	if len(reason) <= maxReason {
		return reason
	}
	end := maxReason - len("…")
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end] + "…"
}

// wake starts a writer unless one is running. Idle lines have no writer, because the stacks
// of waiting goroutines are most of the memory of an idle chat.
func (l *Line) wake() {
	l.working.Lock()
	defer l.working.Unlock()
	if !l.writes && !l.finished {
		l.writes = true
		l.lifecycle.Go("sending", l.write)
	}
}

// nextWrite reports whether the writer is done. It goes on if something was queued.
func (l *Line) nextWrite() (done bool) {
	l.working.Lock()
	defer l.working.Unlock()
	select {
	case <-l.lifecycle.Closing():
		return false
	default:
	}
	if l.queue.Len() > 0 {
		return false
	}
	l.writes = false
	return true
}

// write writes what is queued, and the close frame if the line is closed.
func (l *Line) write() {
	for l.writeAll() {
		select {
		case <-l.lifecycle.Closing():
			l.flush()
			l.closeHandshake()
			return
		default:
		}
		if l.nextWrite() {
			return
		}
	}
}

// writeAll writes what is queued, until the line is closed. It returns false if the
// connection is gone.
func (l *Line) writeAll() bool {
	for {
		select {
		case <-l.lifecycle.Closing():
			return l.lifecycle.Gone().Err() == nil
		default:
		}
		q, ok := l.queue.Take()
		if !ok {
			return true
		}
		if !l.put(q) {
			return false
		}
	}
}

// put writes a message, unless it is sound that was cut. It returns false if the connection
// is gone.
func (l *Line) put(q queued) bool {
	defer l.capacity.Release(weight(q.data))
	if q.sound > 0 && q.cuts != l.sound.cuts() {
		return true
	}
	defer l.deadline().stop()
	l.writing.Store(true)
	kind := websocket.MessageText
	if q.binary {
		kind = websocket.MessageBinary
	}
	err := l.conn.Write(l.lifecycle.Gone(), kind, q.data)
	l.writing.Store(false)
	l.sound.add(q.cuts, -q.sound)
	if err != nil {
		l.lifecycle.Drop(err)
	}
	return err == nil
}

// flush writes what was queued before the line was closed, within the time that one message
// may take.
func (l *Line) flush() {
	slow := time.AfterFunc(l.timing.Write, func() { l.lifecycle.Drop(line.ErrTooSlow) })
	defer slow.Stop()
	for {
		q, ok := l.queue.Take()
		if !ok || !l.put(q) {
			return
		}
	}
}

// closeHandshake does the closing handshake. If the client delays it, the connection is
// closed.
func (l *Line) closeHandshake() {
	hurry := time.AfterFunc(l.timing.Close, func() { _ = l.raw.Close() })
	defer hurry.Stop()
	code, reason := l.lifecycle.Closed()
	err := l.conn.Close(websocket.StatusCode(code), reason)
	l.log.Debug("line closed", "code", code, "reason", reason, "err", err)
	l.lifecycle.Drop(line.ErrClosed)
}

// keepAlive sends a ping, and schedules the next one. If the client is receiving a message,
// its missing pong does not matter: the message has its own deadline.
func (l *Line) keepAlive() {
	if l.lifecycle.Err() != nil {
		return
	}
	begun, taken := time.Now(), l.socket.acknowledged()
	ctx, cancel := context.WithTimeout(l.lifecycle.Gone(), l.timing.Pong)
	err := l.conn.Ping(ctx)
	waited := ctx.Err() != nil // until the timeout, not for its turn to write
	cancel()
	if err != nil && waited && l.listenedFor(l.timing.Pong) && !l.takes(taken) && l.lifecycle.Err() == nil {
		l.lifecycle.Drop(errNoPong)
		return
	}
	l.alive.Reset(max(0, l.timing.PingEvery-time.Since(begun)))
}

// takes reports whether the client has received data since before bytes. On a slow link the
// pong waits behind data.
func (l *Line) takes(before uint64) bool {
	return l.writing.Load() || l.socket.acknowledged() >= before+minProgress
}

// listenedFor reports whether the reader would have seen a pong. While the session is too
// busy to take messages, nothing is read.
func (l *Line) listenedFor(d time.Duration) bool {
	since := l.listening.Load()
	return since != 0 && time.Since(time.Unix(0, since)) >= d
}

// finish waits for the end of the connection, and releases it.
func (l *Line) finish() {
	<-l.lifecycle.Gone().Done()
	l.working.Lock()
	l.finished = true
	l.working.Unlock()
	l.lifecycle.Wait()
	l.alive.Stop()
	_ = l.conn.CloseNow()
}
