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

// maxIdleBuffer is the largest read buffer that stays with a line: far above the
// audio that clients send, so that it need not grow again and again.
const maxIdleBuffer = 256 << 10

// carry brings what the client sends to the session, until either is over, and
// returns when the session is.
func (l *Line) carry(g line.AuthorizedSession) {
	l.endedBy(l.readUntilPanic(g))
	if why := context.Cause(l.lifecycle.Gone()); errors.Is(why, line.ErrTooSlow) {
		g.CutOff(why)
	} else {
		g.HangUp()
	}
	<-g.Done()
}

// endedBy ends the line after reading from it has ended so.
func (l *Line) endedBy(err error) {
	_, ended := errors.AsType[sessionClosed](err)
	switch {
	case errors.Is(err, errTooBig):
		l.Close(contract.CloseTooBig, tooBig(l.largest))
	case !ended && l.lifecycle.Err() == nil:
		l.log.Debug("client left", "err", err)
		l.lifecycle.Drop(line.ErrLeft)
	}
}

// readUntilPanic is read; a panic while a message is understood ends the
// session with an error.
func (l *Line) readUntilPanic(g line.AuthorizedSession) (err error) {
	defer l.audio.Close()
	defer l.lifecycle.Recover("reading a message", func() {
		g.Fail()
		err = sessionClosed{line.ErrPanicked}
	})
	return l.read(g)
}

// sessionClosed is the error of a session that takes nothing more. It closes the
// line by itself, in its own time.
type sessionClosed struct{ error }

func sessionError(err error) error {
	if err != nil {
		return sessionClosed{err}
	}
	return nil
}

var errTooBig = errors.New("a message over the limit")

func tooBig(limit int64) string { return fmt.Sprintf("a message may have %d bytes", limit) }

// receive reads a message up to the limit. The limit of conn itself would send its
// close frame at once, ahead of what is queued.
func (l *Line) take(buf *bytes.Buffer, r io.Reader) error {
	n, err := buf.ReadFrom(io.LimitReader(r, l.largest+1))
	if n > l.largest {
		return errTooBig
	}
	return err
}

// read takes one message after the other, until the socket or the session is
// over.
func (l *Line) read(s line.Session) error {
	return l.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if typ == websocket.MessageBinary {
			return sessionError(l.hear(s, frame.Bytes()))
		}
		return sessionError(line.Receive(s, frame.Bytes(), func(sound []byte) error { return l.hear(s, sound) }))
	})
}

// messages hands one message after the other to take, which keeps nothing of it,
// until the socket is over or take fails.
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
		if err := l.take(&buf, r); err != nil {
			return err
		}
		l.listening.Store(0) // signs of life lie in the network's buffers meanwhile
		if typ == websocket.MessageBinary && isMessage(buf.Bytes()) {
			typ = websocket.MessageText
		}
		if err := take(typ, &buf); err != nil {
			return err
		}
	}
}

// isMessage reports whether a binary frame holds a message all the same. Libraries
// send such frames for JSON that they are given as bytes, older Python clients
// among them; no piece of sound is JSON.
func isMessage(frame []byte) bool {
	return len(frame) > 0 && frame[0] == '{' && json.Valid(frame)
}

// hear hands the sound of a message on.
func (l *Line) hear(s line.Session, message []byte) error {
	if len(message) == 0 {
		return nil
	}
	pcm, fault := l.audio.Take(s.Audio(), message)
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
