package ws

import (
	"context"
	"errors"
	"time"

	"parley/appliance/contract"
)

// guarded is a Session whose client may lose the right to be there while it
// lasts. Each message is a moment to ask; audio, of which fifty pieces come a
// second, is not, and neither is silence: for these the watch asks.
type guarded struct {
	Session
	line  *Line
	still func(context.Context) error
}

// Receive hands on a message of a client who may still send it.
func (g guarded) Receive(m contract.ClientMessage) error {
	if g.barred() {
		return errBarred
	}
	return g.Session.Receive(m)
}

// watch returns when the session is over, and sees to it that it is when the
// client may not be there any more.
func (g guarded) watch() {
	tick := time.NewTicker(g.line.timing.Recheck)
	defer tick.Stop()
	for {
		select {
		case <-g.Done():
			return
		case <-tick.C:
			g.barred()
		}
	}
}

var errBarred = errors.New("the client may not be here any more")

// barred asks whether the client has to go, and ends the session if so.
func (g guarded) barred() bool {
	if !g.line.barred(g.still) {
		return false
	}
	_ = g.Session.Fault(contract.KeyRevoked, "") // it is over already, or it ends with this
	return true
}

// barred asks whether the client of the line has to go. While that cannot be
// known it stays: a database that is busy must not end every conversation.
func (l *Line) barred(still func(context.Context) error) bool {
	err := still(l.gone)
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
