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

// A Chat is a live conversation, as those use it who connect to it beside its
// client.
type Chat interface {
	// Listen returns what gets all that the client is told, from the beginning
	// of the chat on, and its sound from now on, if that is wanted. An error
	// means that the chat is over.
	Listen(sound bool) (Listener, error)
	// Steer takes a message as the client's. The error is a contract.Fault where
	// something is wrong with it, a contract.ErrUnavailable where it may be tried
	// again, and a contract.ErrNotFound where the chat is over.
	Steer(m contract.ClientMessage) error
}

// A Listener gets what the client of a chat is told.
type Listener interface {
	// Next waits for the next of it, at most until ctx ends. The error says why
	// there is no more: io.EOF when the chat is over.
	Next(ctx context.Context) (connection.Copy, error)
	Close()
}

// Follow lets a client follow and steer a chat of its account, from its upgrade
// to the end of the chat or of the socket. Its sound comes too, if that is
// wanted. It ends too when the client's pass holds no more. An error means that there was no upgrade
// and the response is still to be written.
func (s *Server) Follow(w http.ResponseWriter, r *http.Request, c Chat, sound bool,
	pass connection.Authorization) error {
	s.open.Add(1)
	defer s.open.Done()
	if err := checkUpgrade(r, s.origins); err != nil {
		return err
	}
	heard, err := c.Listen(sound)
	if err != nil {
		return err
	}
	defer heard.Close()
	l, err := s.accept(w, r)
	if err != nil {
		return err
	}
	defer l.finish()
	f := &follower{
		line:          l,
		chat:          c,
		authorization: pass,
		request:       l.errs.RequestID,
	}
	l.lifecycle.Go("passing on a chat", func() { f.forward(heard) })
	defer line.OnRevoked(pass, func() {
		defer l.lifecycle.Recover("sending a follower away", func() { l.lifecycle.Drop(line.ErrPanicked) })
		f.revoke()
	})()
	err = f.receive()
	if errors.Is(err, errTooBig) {
		l.Close(contract.CloseTooBig, tooBig(l.largest))
	} else if l.lifecycle.Err() == nil {
		l.log.Debug("a follower left", "err", err)
		l.lifecycle.Drop(line.ErrLeft)
	}
	return nil
}

// follower is somebody who has connected to a chat.
type follower struct {
	line          *Line
	chat          Chat
	authorization connection.Authorization
	request       string // id of the handshake

	revoked sync.Once  // away
	sending sync.Mutex // what a line is sent comes from one goroutine at a time
}

// forward brings what happens in the chat to the follower, until either is over.
func (f *follower) forward(heard Listener) {
	for {
		c, err := heard.Next(f.line.lifecycle.Gone())
		switch {
		case errors.Is(err, io.EOF):
			// However the chat ended: a client that sees another code connects
			// again and again to what is no more.
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

// receive takes what the follower sends, until the socket or the chat is over.
func (f *follower) receive() (err error) {
	defer f.line.lifecycle.Recover("taking a message of a follower", func() {
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
			return nil // who passes it on closes the line when all of it is told
		}
		return err
	})
}

// steer hands a message on. While the chat takes none, the follower waits, as
// its client does.
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

// sendFault tells the follower, and nobody else, what is wrong with a message.
func (f *follower) sendFault(wrong contract.Fault) error {
	m := wrong.Code.Error(wrong.Detail)
	m.RequestID = f.request
	return f.send(connection.Copy{Message: m})
}

// revoke sends the follower away.
func (f *follower) revoke() {
	f.revoked.Do(func() {
		_ = f.sendFault(contract.Fault{Code: contract.KeyRevoked})
		f.line.Close(contract.KeyRevoked.CloseCode(), contract.KeyRevoked.Slug())
	})
}
