package line

import (
	"context"
	"errors"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// AuthorizedSession is a Session whose client may lose the right to be there while it
// lasts. Each message is a moment to ask; audio, of which fifty pieces come a
// second, is not, and neither is silence: for these somebody tells (Watch).
type AuthorizedSession struct {
	Session
	Line          connection.Line
	Lifecycle     *Lifecycle
	Authorization connection.Authorization
}

var errRevoked = errors.New("the client may not be here any more")

// Receive hands on a message of a client who may still send it.
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

// revoke ends the session of a client that has to go.
func (g AuthorizedSession) revoke() {
	_ = g.Session.Fault(contract.KeyRevoked, "") // it is over already, or it ends with this
}

// Watch ends the session as soon as the pass is lost, until release is called.
func (g AuthorizedSession) Watch() (release func()) {
	return OnRevoked(g.Authorization, func() {
		defer g.Lifecycle.Recover("sending a client away", g.Fail)
		g.revoke()
	})
}

// Fail ends the session with an error of ours. Should the session panic at that
// too, the line closes without it.
func (g AuthorizedSession) Fail() {
	defer g.Lifecycle.Recover("ending a session", func() {})
	defer g.Line.Close(contract.CloseInternal, contract.Internal.Slug())
	_ = g.Session.Fault(contract.Internal, "") // it is over already, or it ends with this
}

// OnRevoked has then called, once, if the pass is lost before release is called.
// release waits until that is done.
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

// Revoked asks whether the client of the line has to go. While that cannot be
// known it stays: a database that is busy must not end every conversation.
func (l *Lifecycle) Revoked(pass connection.Authorization) bool {
	err := pass.Check(l.gone)
	if _, out := errors.AsType[contract.ErrUnauthorized](err); out {
		return true
	}
	if err != nil && l.Err() == nil {
		l.log.Debug("cannot tell whether a key still holds", "err", err)
	}
	return false
}
