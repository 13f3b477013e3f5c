package chat

import (
	"context"

	"parley/appliance/chat/ear"
	"parley/appliance/connection"
	"parley/appliance/contract"
)

// echoLine is the line as it is spoken to: the ear is told what leaves it, and when,
// for that may come back as an echo. A line that keeps sound back plays it later
// than it was made, and then a client has run dry in between.
type echoLine struct {
	connection.Line
	session *Session
}

// Send may let go of sound that was kept back.
func (a echoLine) Send(ctx context.Context, m contract.ServerMessage) error {
	if err := a.Line.Send(ctx, m); err != nil {
		return err
	}
	a.ear().Played(a.session.clock(), nil, a.Kept())
	return nil
}

func (a echoLine) Play(ctx context.Context, s contract.Sound) error {
	if err := a.Line.Play(ctx, s); err != nil {
		return err
	}
	a.ear().Played(a.session.clock(), s.PCM, a.Kept())
	return nil
}

func (a echoLine) Cut() {
	a.Line.Cut()
	a.ear().Cut(a.session.clock())
}

func (a echoLine) ear() *ear.Ear { return a.session.ear }
