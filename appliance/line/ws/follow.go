package ws

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/coder/websocket"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/appliance/line"
)

// A Chat is a live chat, as clients use it that connect to it besides its own client.
type Chat interface {
	// Listen returns a listener to the messages from the beginning of the chat on, and to
	// its sound from now on if sound is set. An error means that the chat is over.
	Listen(sound bool) (Listener, error)
	// Steer takes a message as if its client had sent it. The error is a contract.Fault for
	// an invalid message, a contract.ErrUnavailable if it may be tried again, and a
	// contract.ErrNotFound if the chat is over.
	Steer(m contract.ClientMessage) error
}

// A Listener gets what the client of a chat gets.
type Listener interface {
	// Next waits for the next copy, until ctx ends. The error is io.EOF when the chat is
	// over.
	Next(ctx context.Context) (connection.Copy, error)
	Close()
}

// Follow lets a client follow and steer a chat of its account, with its sound if sound is
// set, until the chat, the socket or the authorization ends. An error means that there was
// no upgrade, and the response is still to be written.
func (s *Server) Follow(w http.ResponseWriter, r *http.Request, c Chat, sound bool,
	auth connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	listener, err := c.Listen(sound)
	if err != nil {
		return err
	}
	defer listener.Close()
	l, err := s.accept(w, r)
	if err != nil {
		return err
	}
	defer l.finish()
	f := &follower{
		line:          l,
		chat:          c,
		authorization: auth,
		request:       l.errs.RequestID,
	}
	l.lifecycle.Go("forwarding a chat", func() { f.forward(listener) })
	defer line.OnRevoked(auth, func() {
		defer l.lifecycle.Recover("dropping a follower", func() { l.lifecycle.Drop(line.ErrPanicked) })
		f.revoke()
	})()
	err = f.receive()
	if errors.Is(err, errTooBig) {
		l.Close(contract.CloseTooBig, tooBig(l.maxMessage))
	} else if l.lifecycle.Err() == nil {
		l.log.Debug("a follower left", "err", err)
		l.lifecycle.Drop(line.ErrLeft)
	}
	return nil
}

// follower is a client that follows a chat.
type follower struct {
	line          *Line
	chat          Chat
	authorization connection.Authorization
	request       string // request id of the handshake

	revoked sync.Once  // revoke runs once
	sending sync.Mutex // one goroutine at a time may send on a line
}

// forward sends the follower what happens in the chat, until either is over.
func (f *follower) forward(listener Listener) {
	for {
		c, err := listener.Next(f.line.lifecycle.Gone())
		switch {
		case errors.Is(err, io.EOF):
			// The code is the same however the chat ended: with another one clients
			// reconnect again and again.
			f.line.Close(contract.CloseNormal, "the chat is over")
			return
		case err != nil:
			f.line.Close(contract.ClosePolicy, err.Error())
			return
		}
		if f.send(c) != nil {
			return
		}
	}
}

func (f *follower) send(c connection.Copy) error {
	f.sending.Lock()
	defer f.sending.Unlock()
	switch {
	case c.Cut:
		f.line.Cut()
	case c.Sound != nil:
		return f.line.Play(f.line.lifecycle.Gone(), *c.Sound)
	case c.Message != nil:
		return f.line.Send(f.line.lifecycle.Gone(), c.Message)
	}
	return nil
}

// receive processes the follower's messages until the socket or the chat is over.
func (f *follower) receive() (err error) {
	defer f.line.lifecycle.Recover("receiving a message of a follower", func() {
		f.line.Close(contract.CloseInternal, contract.Internal.Slug())
		err = line.ErrPanicked
	})
	return f.line.messages(func(typ websocket.MessageType, frame *bytes.Buffer) error {
		if f.line.lifecycle.Revoked(f.authorization) {
			f.revoke()
			return nil // the line is closing
		}
		if typ == websocket.MessageBinary {
			return f.sendFault(contract.Fault{Code: contract.UnknownMessage,
				Detail: "Binary frames are audio, which only the client of the chat sends."})
		}
		m, err := contract.ParseControlMessage(frame.Bytes())
		if err == nil {
			err = f.steer(m)
		}
		if wrong, ok := errors.AsType[contract.Fault](err); ok {
			return f.sendFault(wrong)
		}
		if _, over := errors.AsType[contract.ErrNotFound](err); over {
			return nil // forward closes the line when everything was sent
		}
		return err
	})
}

// steer passes on a message. While the chat accepts none, the follower waits, as its client
// does.
func (f *follower) steer(m contract.ClientMessage) error {
	for {
		err := f.chat.Steer(m)
		if _, busy := errors.AsType[contract.ErrUnavailable](err); !busy {
			return err
		}
		if err := f.line.lifecycle.Err(); err != nil {
			return err
		}
	}
}

// sendFault reports a fault to this follower only.
func (f *follower) sendFault(wrong contract.Fault) error {
	m := wrong.Code.Error(wrong.Detail)
	m.RequestID = f.request
	return f.send(connection.Copy{Message: m})
}

// revoke closes the line of a follower without authorization.
func (f *follower) revoke() {
	f.revoked.Do(func() {
		_ = f.sendFault(contract.Fault{Code: contract.KeyRevoked})
		f.line.Close(contract.KeyRevoked.CloseCode(), contract.KeyRevoked.Slug())
	})
}
