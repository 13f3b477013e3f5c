package ws

import (
	"context"
	"errors"

	"parley/appliance/contract"
)

// guarded is a Session whose client may lose the right to be there while it
// lasts. Each message is a moment to ask; audio, of which fifty pieces come a
// second, is not, and neither is silence: for these somebody tells.
type guarded struct {
	Session
	line *Line
	pass Pass
}

// Receive hands on a message of a client who may still send it.
func (g guarded) Receive(m contract.ClientMessage) error {
	if g.line.barred(g.pass) {
		g.bar()
		return errBarred
	}
	return g.Session.Receive(m)
}

var errBarred = errors.New("the client may not be here any more")

// bar ends the session of a client that has to go.
func (g guarded) bar() {
	_ = g.Session.Fault(contract.KeyRevoked, "") // it is over already, or it ends with this
}

// watch ends the session as soon as the pass is lost.
func (g guarded) watch() (release func()) {
	return g.line.whenLost(g.pass, func() {
		defer g.line.survive("sending a client away", g.fail)
		g.bar()
	})
}

// whenLost has then called, once, if the pass is lost before release is called.
// release waits until that is done.
func (l *Line) whenLost(pass Pass, then func()) (release func()) {
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

// barred asks whether the client of the line has to go. While that cannot be
// known it stays: a database that is busy must not end every conversation.
func (l *Line) barred(pass Pass) bool {
	err := pass.Holds(l.gone)
	if _, out := errors.AsType[contract.ErrUnauthorized](err); out {
		return true
	}
	if err != nil && l.over() == nil {
		l.log.Debug("cannot tell whether a key still holds", "err", err)
	}
	return false
}

// fail ends the session with an error of ours. Should the session panic at that
// too, the line closes without it.
func (g guarded) fail() {
	defer g.line.survive("ending a session", func() {})
	defer g.line.Close(contract.CloseInternal, contract.Internal.Slug())
	_ = g.Session.Fault(contract.Internal, "") // it is over already, or it ends with this
}
