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
func (g AuthorizedSession) Receive(m contract.ClientMessage) error {
	if g.Lifecycle.Revoked(g.Authorization) {
		g.revoke()
		return errRevoked
	}
	if f, not := errors.AsType[contract.Fault](g.Authorization.Permits(m)); not {
		return g.Session.Fault(f.Code, f.Detail)
	}
	return g.Session.Receive(m)
}

// revoke ends the session of a client without authorization.
func (g AuthorizedSession) revoke() {
	_ = g.Session.Fault(contract.KeyRevoked, "") // an error means that the session is over
}

// Watch ends the session as soon as the authorization ends, until release is called.
func (g AuthorizedSession) Watch() (release func()) {
	return OnRevoked(g.Authorization, func() {
		defer g.Lifecycle.Recover("sending a client away", g.Fail)
		g.revoke()
	})
}

// Fail ends the session with an internal error. If the session panics at that, the line is
// closed without an error message.
func (g AuthorizedSession) Fail() {
	defer g.Lifecycle.Recover("ending a session", func() {})
	defer g.Line.Close(contract.CloseInternal, contract.Internal.Slug())
	_ = g.Session.Fault(contract.Internal, "") // an error means that the session is over
}

// OnRevoked calls then, once, if the authorization ends before release is called. release
// waits for a running then.
func OnRevoked(pass connection.Authorization, then func()) (release func()) {
	lost, unwatch := pass.Watch()
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
func (l *Lifecycle) Revoked(pass connection.Authorization) bool {
	err := pass.Check(l.gone)
	if _, out := errors.AsType[contract.ErrUnauthorized](err); out {
		return true
	}
	if err != nil && l.Err() == nil {
		l.log.Debug("cannot check whether a key is still valid", "err", err)
	}
	return false
}
