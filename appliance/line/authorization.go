package line

import (
	"context"
	"errors"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// AuthorizedSession is a Session whose client may lose its authorization meanwhile. The
// authorization is checked at each message; audio, of which fifty pieces come a second, is
// not checked, and silence cannot be. Watch covers these.
type AuthorizedSession struct {
	Session
	Line          connection.Line
	Lifecycle     *Lifecycle
	Authorization connection.Authorization
}

var errRevoked = errors.New("the client may not be here any more")

// Receive passes on a message if the client may still send it.
func (s AuthorizedSession) Receive(m contract.ClientMessage) error {
	if s.Lifecycle.Revoked(s.Authorization) {
		s.revoke()
		return errRevoked
	}
	if f, not := errors.AsType[contract.Fault](s.Authorization.Permits(m)); not {
		return s.Session.Fault(f.Code, f.Detail)
	}
	return s.Session.Receive(m)
}

// revoke ends the session of a client without authorization.
func (s AuthorizedSession) revoke() {
	_ = s.Session.Fault(contract.KeyRevoked, "") // an error means that the session is over
}

// Watch ends the session as soon as the authorization ends, until release is called.
func (s AuthorizedSession) Watch() (release func()) {
	return OnRevoked(s.Authorization, func() {
		defer s.Lifecycle.Recover("sending a client away", s.Fail)
		s.revoke()
	})
}

// Fail ends the session with an internal error. If the session panics at that, the line is
// closed without an error message.
func (s AuthorizedSession) Fail() {
	defer s.Lifecycle.Recover("ending a session", func() {})
	defer s.Line.Close(contract.CloseInternal, contract.Internal.Slug())
	_ = s.Session.Fault(contract.Internal, "") // an error means that the session is over
}

// OnRevoked calls then, once, if the authorization ends before release is called. release
// waits for a running then.
func OnRevoked(auth connection.Authorization, then func()) (release func()) {
	lost, unwatch := auth.Watch()
	done := make(chan struct{})
	stop := context.AfterFunc(lost, func() {
		defer close(done)
		then()
	})
	return func() {
		if !stop() {
			<-done
		}
		unwatch()
	}
}

// Revoked reports whether the authorization of the line's client has ended. If that cannot
// be determined, the client stays: a busy database must not end all chats.
func (l *Lifecycle) Revoked(auth connection.Authorization) bool {
	err := auth.Check(l.gone)
	if _, out := errors.AsType[contract.ErrUnauthorized](err); out {
		return true
	}
	if err != nil && l.Err() == nil {
		l.log.Debug("cannot check whether a key is still valid", "err", err)
	}
	return false
}
