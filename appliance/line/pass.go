package line

import (
	"context"
	"errors"

	"parley/appliance/connection"
	"parley/appliance/contract"
)

// Guarded is a Session whose client may lose the right to be there while it
// lasts. Each message is a moment to ask; audio, of which fifty pieces come a
// second, is not, and neither is silence: for these somebody tells (Watch).
type Guarded struct {
	Session
	Line connection.Line
	Life *Life
	Pass connection.Authorization
}

var errBarred = errors.New("the client may not be here any more")

// Receive hands on a message of a client who may still send it.
func (g Guarded) Receive(m contract.ClientMessage) error {
	if g.Life.Barred(g.Pass) {
		g.bar()
		return errBarred
	}
	if f, not := errors.AsType[contract.Fault](g.Pass.Permits(m)); not {
		return g.Session.Fault(f.Code, f.Detail)
	}
	return g.Session.Receive(m)
}

// bar ends the session of a client that has to go.
func (g Guarded) bar() {
	_ = g.Session.Fault(contract.KeyRevoked, "") // it is over already, or it ends with this
}

// Watch ends the session as soon as the pass is lost, until release is called.
func (g Guarded) Watch() (release func()) {
	return WhenLost(g.Pass, func() {
		defer g.Life.Survive("sending a client away", g.Fail)
		g.bar()
	})
}

// Fail ends the session with an error of ours. Should the session panic at that
// too, the line closes without it.
func (g Guarded) Fail() {
	defer g.Life.Survive("ending a session", func() {})
	defer g.Line.Close(contract.CloseInternal, contract.Internal.Slug())
	_ = g.Session.Fault(contract.Internal, "") // it is over already, or it ends with this
}

// WhenLost has then called, once, if the pass is lost before release is called.
// release waits until that is done.
func WhenLost(pass connection.Authorization, then func()) (release func()) {
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

// Barred asks whether the client of the line has to go. While that cannot be
// known it stays: a database that is busy must not end every conversation.
func (l *Life) Barred(pass connection.Authorization) bool {
	err := pass.Holds(l.gone)
	if _, out := errors.AsType[contract.ErrUnauthorized](err); out {
		return true
	}
	if err != nil && l.Over() == nil {
		l.log.Debug("cannot tell whether a key still holds", "err", err)
	}
	return false
}
