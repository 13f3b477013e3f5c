package ws

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"

	"parley/appliance/contract"
	"parley/appliance/line"
)

// maxIdleBuffer is the largest read buffer that a line retains: far more than the audio
// messages of clients need.
const maxIdleBuffer = 256 << 10

// carry passes the client's messages to the session until either ends, and returns when the
// session has ended.
func (l *Line) carry(g line.AuthorizedSession) {
	l.endedBy(l.readUntilPanic(g))
	if why := context.Cause(l.lifecycle.Gone()); errors.Is(why, line.ErrTooSlow) {
		g.CutOff(why)
	} else {
		g.HangUp()
	}
	<-g.Done()
}

// endedBy ends the line after reading has ended with err.
func (l *Line) endedBy(err error) {
	_, ended := errors.AsType[sessionClosed](err)
	switch {
	case errors.Is(err, errTooBig):
		l.Close(contract.CloseTooBig, tooBig(l.maxMessage))
	case !ended && l.lifecycle.Err() == nil:
		l.log.Debug("client left", "err", err)
		l.lifecycle.Drop(line.ErrLeft)
	}
}

// readUntilPanic is read. A panic ends the session with an internal error.
func (l *Line) readUntilPanic(g line.AuthorizedSession) (err error) {
	defer l.audio.Close()
	defer l.lifecycle.Recover("reading a message", func() {
		g.Fail()
		err = sessionClosed{line.ErrPanicked}
	})
	return l.read(g)
}

// sessionClosed is the error of a session that takes no more messages. The session closes
// the line itself.
type sessionClosed struct{ error }

func sessionError(err error) error {
	if err != nil {
		return sessionClosed{err}
	}
	return nil
}

var errTooBig = errors.New("a message over the limit")

func tooBig(limit int64) string { return fmt.Sprintf("a message may have at most %d bytes", limit) }

// take reads a message up to the limit. It does not use the read limit of conn, which would
// send a close frame before the queued messages. The caller calls release when it has
// processed the message.
func (l *Line) take(buf *bytes.Buffer, r io.Reader) (release func(), err error) {
	release = func() {}
	if l.enlarge != nil {
		if n, err := buf.ReadFrom(io.LimitReader(r, maxIdleBuffer)); n < maxIdleBuffer || err != nil {
			return release, err
		}
		l.listening.Store(0) // pongs are not read meanwhile
		if release, err = l.enlarge(l.lifecycle.Gone()); err != nil {
			return func() {}, err
		}
		l.listening.Store(time.Now().UnixNano())
	}
	left := l.maxMessage - int64(buf.Len())
	n, err := buf.ReadFrom(io.LimitReader(r, left+1))
	if n > left {
		err = errTooBig
	}
	return release, err
}

// read passes messages to the session until the socket or the session ends.
func (l *Line) read(s line.Session) error {
	return l.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if typ == websocket.MessageBinary {
			return sessionError(l.hear(s, frame.Bytes()))
		}
		return sessionError(line.Receive(s, frame.Bytes(), func(sound []byte) error { return l.hear(s, sound) }))
	})
}

// messages calls take with each message, which is valid during the call, until the socket
// ends or take fails.
func (l *Line) messages(take func(websocket.MessageType, *bytes.Buffer) error) error {
	var buf bytes.Buffer
	for {
		l.listening.Store(time.Now().UnixNano())
		typ, r, err := l.conn.Reader(l.lifecycle.Gone())
		if err != nil {
			return err
		}
		if buf.Cap() > maxIdleBuffer {
			buf = bytes.Buffer{}
		}
		buf.Reset()
		release, err := l.take(&buf, r)
		if err == nil {
			l.listening.Store(0) // pongs are not read meanwhile
			if typ == websocket.MessageBinary && isMessage(buf.Bytes()) {
				typ = websocket.MessageText
			}
			err = take(typ, &buf)
		}
		release()
		if err != nil {
			return err
		}
	}
}

// isMessage reports whether a binary frame holds a JSON message. Some libraries, among them
// older Python clients, send JSON that is given as bytes in such frames; no sound is valid
// JSON.
func isMessage(frame []byte) bool {
	return len(frame) > 0 && frame[0] == '{' && json.Valid(frame)
}

// hear passes on the sound of a message.
func (l *Line) hear(s line.Session, message []byte) error {
	if len(message) == 0 {
		return nil
	}
	pcm, fault := l.audio.Decode(s.Audio(), message)
	if len(pcm) > 0 || fault == nil {
		if err := s.Hear(pcm); err != nil {
			return err
		}
	}
	if fault != nil {
		return s.Fault(fault.Code, fault.Detail)
	}
	return nil
}
