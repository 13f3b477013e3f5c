package chat

import (
	"context"

	"parley/appliance/chat/ear"
	"parley/appliance/connection"
	"parley/appliance/contract"
)

// echoLine is a Line that tells the ear what leaves it, and when, because the user's microphone may pick it
// up as an echo. A line may hold sound back and send it later than it was made, after the client has run dry.
type echoLine struct {
	connection.Line
	session *Session
}

// Send may release sound that was held back.
func (e echoLine) Send(ctx context.Context, m contract.ServerMessage) error {
	if err := e.Line.Send(ctx, m); err != nil {
		return err
	}
	e.ear().Played(e.session.clock(), nil, e.HeldBack())
	return nil
}

func (e echoLine) Play(ctx context.Context, s contract.Sound) error {
	if err := e.Line.Play(ctx, s); err != nil {
		return err
	}
	e.ear().Played(e.session.clock(), s.PCM, e.HeldBack())
	return nil
}

func (e echoLine) Cut() {
	e.Line.Cut()
	e.ear().Cut(e.session.clock())
}

func (e echoLine) ear() *ear.Ear { return e.session.ear }
