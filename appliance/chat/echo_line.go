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
func (a echoLine) Send(ctx context.Context, m contract.ServerMessage) error {
	if err := a.Line.Send(ctx, m); err != nil {
		return err
	}
	a.ear().Played(a.session.clock(), nil, a.HeldBack())
	return nil
}

func (a echoLine) Play(ctx context.Context, s contract.Sound) error {
	if err := a.Line.Play(ctx, s); err != nil {
		return err
	}
	a.ear().Played(a.session.clock(), s.PCM, a.HeldBack())
	return nil
}

func (a echoLine) Cut() {
	a.Line.Cut()
	a.ear().Cut(a.session.clock())
}

func (a echoLine) ear() *ear.Ear { return a.session.ear }
