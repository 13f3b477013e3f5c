package appliance

import (
	"context"
	"errors"
	"io"
	"net/http"

	"parley/appliance/api"
	"parley/appliance/chat"
	"parley/appliance/contract"
	"parley/appliance/line/ws"
)

// control is the way into live chats: for their clients, over lines, and for
// those who follow and steer them.
type control struct {
	*ws.Server
	admission *admission
}

// ServeChat carries a conversation of the account.
func (c control) ServeChat(w http.ResponseWriter, r *http.Request, account string, pass api.Pass) error {
	return c.Server.ServeChat(w, r, account, pass)
}

// Follow carries somebody who connects to a live chat of the account.
func (c control) Follow(w http.ResponseWriter, r *http.Request, account, chatID string, sound bool,
	pass api.Pass) error {
	session, err := c.live(account, chatID)
	if err != nil {
		return err
	}
	if !session.About().Connectable {
		return contract.ErrForbidden{
			Why: "the client of this chat lets nobody connect to it; it has to open it with allow_connection=true"}
	}
	return c.Server.Follow(w, r, followed{session}, sound, pass)
}

// Steer hands a message to a live chat of the account.
func (c control) Steer(account, chatID string, m contract.ClientMessage) error {
	session, err := c.live(account, chatID)
	if err != nil {
		return err
	}
	return followed{session}.Steer(m)
}

// Turns are the newest turns of a live chat of the account.
func (c control) Turns(account, chatID string) ([]contract.ReturnTurn, error) {
	session, err := c.live(account, chatID)
	if err != nil {
		return nil, err
	}
	return session.Turns(), nil
}

// live finds a chat of the account. That of another is the same as none.
func (c control) live(account, chatID string) (*chat.Session, error) {
	if host := c.admission.host.Load(); host != nil {
		if s, ok := host.Find(chatID); ok && s.About().Account == account {
			return s, nil
		}
	}
	return nil, notLive(chatID)
}

// notLive is said of a chat that is over as of one that never was.
func notLive(chatID string) error { return contract.ErrNotFound{What: "live chat", ID: chatID} }

// followed is a chat as those see it who connect to it over a WebSocket.
type followed struct{ session *chat.Session }

// Listen returns what gets all that its client is told.
func (f followed) Listen(sound bool) (ws.Listener, error) {
	l, err := f.session.Listen(sound)
	if errors.Is(err, chat.ErrOver) {
		return nil, notLive(f.session.ID())
	}
	if err != nil {
		return nil, err
	}
	return listener{l}, nil
}

// Steer hands a message on.
func (f followed) Steer(m contract.ClientMessage) error {
	err := f.session.Steer(m)
	if errors.Is(err, chat.ErrOver) {
		return notLive(f.session.ID())
	}
	return err
}

// listener is a chat's, as a WebSocket line listens.
type listener struct{ *chat.Listener }

// Next waits for what the client is told next.
func (l listener) Next(ctx context.Context) (ws.Copy, error) {
	c, err := l.Listener.Next(ctx)
	if errors.Is(err, chat.ErrOver) {
		err = io.EOF
	}
	return ws.Copy(c), err
}
