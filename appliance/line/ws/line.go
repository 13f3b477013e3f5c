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
	// queueBytes is how much may wait for the network: a minute of speech, at
	// 128 KB of base64 a second.
	queueBytes = 8 << 20
	// minQueueWeight is what the smallest message counts as, which bounds their
	// number.
	minQueueWeight = 8 << 10
	// longestReason is what a close frame has room for (RFC 6455, section 5.5).
	longestReason = 123
)

var errNoPong = errors.New("the client gives no sign of life")

// Line is one client's WebSocket. It is a chat.Line.
type Line struct {
	conn      *websocket.Conn
	raw       net.Conn // under conn
	socket    socket   // under raw
	timing    Timing
	largest   int64    // message that the client may send, in bytes
	unknown   []string // types of messages that its library does not know
	log       *slog.Logger
	lifecycle *line.Lifecycle

	audio decode.Stream // of the reader

	errs line.ErrorLimiter // of the sender
	// chunks is the format of a socket that speaks, on which errors are chunks; empty
	// elsewhere.
	chunks   contract.AudioFormat
	clip     clip                     // of the sender: the newest sound
	queue    *unbounded.Queue[queued] // to the writer; room bounds it
	capacity *semaphore.Weighted
	sound    soundQueue // of which some waits

	writing atomic.Bool // a message is on its way to the network
	// listening is since when it is waited for what the client sends, in Unix
	// nanoseconds; 0 while what it sent is handed on.
	listening atomic.Int64
	alive     *time.Timer // asks for the next sign of life

	working  sync.Mutex
	writes   bool // somebody is at what is queued
	finished bool // nobody begins to work any more
}

// queued is a message on its way to the writer.
type queued struct {
	data   []byte
	binary bool
	sound  int   // samples of a chat's, which may be cut
	cuts   int64 // of sound: how often Cut had been called when it came
}

// Send queues a message for the client. It returns at once unless the queue is
// full; then it waits for the client, which is dropped when it takes nothing. It is
// called by one goroutine at a time.
func (l *Line) Send(ctx context.Context, m contract.ServerMessage) error {
	m, tooOften := l.errs.Note(m)
	switch m.(type) {
	case contract.AssistantMessage, contract.AssistantEnd: // the sound before them is over
		if err := l.endClip(ctx); err != nil {
			return err
		}
	}
	if slices.Contains(l.unknown, m.MessageType()) {
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

// weight is what a message takes of the queue's room. One that is larger than
// all of it passes when the queue is empty.
func weight(data []byte) int64 {
	return int64(min(max(len(data), minQueueWeight), queueBytes))
}

// Close ends the line after what is queued. It returns at once; only the first
// call counts.
func (l *Line) Close(code int, reason string) {
	if l.lifecycle.Close(code, truncateReason(reason)) {
		l.wake()
	}
}

// truncateReason cuts a reason to what a close frame holds, at the end of a character.
func truncateReason(reason string) string {
	if len(reason) <= longestReason {
		return reason
	}
	end := longestReason - len("…")
	for !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end] + "…"
}

// wake has what is queued written, and the line closed if it is to be. Of most
// lines nothing is on its way most of the time, and then nobody waits for it: the
// stacks of those who wait are most of what an idle chat takes.
func (l *Line) wake() {
	l.working.Lock()
	defer l.working.Unlock()
	if !l.writes && !l.finished {
		l.writes = true
		l.lifecycle.Go("sending", l.write)
	}
}

// nextWrite ends the work of who writes, unless something has come.
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

// write brings what is queued to the network, and then the close frame. It ends
// when nothing is queued.
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

// writeAll writes what is queued, until the line is closed. False means that the
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

// put writes a message, unless nobody is to hear it any more. False means that
// the connection is gone.
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

// flush writes what was queued before the line was closed, all of it within
// the time that one message may take.
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

// closeHandshake does the closing handshake. Whoever draws it out is cut off.
func (l *Line) closeHandshake() {
	hurry := time.AfterFunc(l.timing.Close, func() { _ = l.raw.Close() })
	defer hurry.Stop()
	code, reason := l.lifecycle.Closed()
	err := l.conn.Close(websocket.StatusCode(code), reason)
	l.log.Debug("line closed", "code", code, "reason", reason, "err", err)
	l.lifecycle.Drop(line.ErrClosed)
}

// keepAlive asks for a sign of life, and has it asked again later. A client in the
// middle of taking a message is not asked: the message has a deadline of its own.
func (l *Line) keepAlive() {
	if l.lifecycle.Err() != nil {
		return
	}
	begun, taken := time.Now(), l.socket.acknowledged()
	ctx, cancel := context.WithTimeout(l.lifecycle.Gone(), l.timing.Pong)
	err := l.conn.Ping(ctx)
	waited := ctx.Err() != nil // all of it, and not for its turn to write
	cancel()
	if err != nil && waited && l.listenedFor(l.timing.Pong) && !l.takes(taken) && l.lifecycle.Err() == nil {
		l.lifecycle.Drop(errNoPong)
		return
	}
	l.alive.Reset(max(0, l.timing.PingEvery-time.Since(begun)))
}

// takes reports whether the client takes what is sent, since so much was taken. On
// a slow link the pong waits behind it.
func (l *Line) takes(before uint64) bool {
	return l.writing.Load() || l.socket.acknowledged() >= before+minProgress
}

// listenedFor says whether a sign of life would have been seen: while the
// conversation is too busy to take what the client sends, nobody looks.
func (l *Line) listenedFor(d time.Duration) bool {
	since := l.listening.Load()
	return since != 0 && time.Since(time.Unix(0, since)) >= d
}

// finish waits for the end of the socket, whoever ends it.
func (l *Line) finish() {
	<-l.lifecycle.Gone().Done()
	l.working.Lock()
	l.finished = true
	l.working.Unlock()
	l.lifecycle.Wait()
	l.alive.Stop()
	_ = l.conn.CloseNow()
}
