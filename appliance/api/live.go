package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"parley/appliance/contract"
	"parley/store"
)

// chat lets a conversation begin.
func (a *API) chat(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.Chats.ServeChat(w, r, by.AccountID, a.pass(w, r, by))
}

// connect lets somebody follow and steer a conversation that is live.
func (a *API) connect(w http.ResponseWriter, r *http.Request, by caller) error {
	sound := true
	if asked := r.URL.Query().Get("audio_output"); asked != "" {
		var err error
		if sound, err = strconv.ParseBool(asked); err != nil {
			return contract.ErrInvalid{Field: "audio_output", Why: "expected true or false"}
		}
	}
	return a.Chats.Follow(w, r, by.AccountID, r.PathValue("id"), sound, a.pass(w, r, by))
}

// taken says that a live chat has taken a message.
type taken struct{}

// send hands a message to a conversation that is live.
func (a *API) send(w http.ResponseWriter, r *http.Request, by caller) error {
	m, err := decode(r, contract.ParsePublishEvent)
	if err != nil {
		return err
	}
	err = a.Chats.Steer(by.AccountID, r.PathValue("id"), m)
	if wrong, ok := errors.AsType[contract.Fault](err); ok {
		return wrong.Refused()
	}
	return a.result(w, http.StatusOK, taken{}, err)
}

// turns tells how long the stages of a live conversation's turns took.
func (a *API) turns(w http.ResponseWriter, r *http.Request, by caller) error {
	all, err := a.Chats.Turns(by.AccountID, r.PathValue("id"))
	return a.result(w, http.StatusOK, contract.ReturnTurns{ChatID: r.PathValue("id"), Turns: all}, err)
}

// pass is the key that opened a socket.
type pass struct {
	keys  Keys
	grant store.Grant
	// socket notes that somebody holds the socket, and returns what is to be called
	// when it is over; nil once it was called. It holds on to the request.
	socket func() (over func())
}

func (a *API) pass(w http.ResponseWriter, r *http.Request, by caller) *pass {
	p := &pass{keys: a.Keys, grant: by.Grant}
	if answer, ok := w.(*response); ok {
		p.socket = func() func() {
			answer.lasts = true
			t, over, leave := toldOf(answer, r), answer.over, answer.leave
			return func() {
				leave()
				over(t)
			}
		}
	}
	return p
}

// Holds asks whether it still opens what it opened.
func (p *pass) Holds(ctx context.Context) error {
	err := p.keys.Holds(ctx, p.grant)
	if errors.Is(err, store.ErrNotFound) {
		return errHeldNoMore
	}
	return err
}

// Permits asks whether it opens a message of the client: that of a screen does
// not open all of them.
func (p *pass) Permits(m contract.ClientMessage) error {
	if p.grant.Kiosk == nil {
		return nil
	}
	return contract.PermittedToScreen(m)
}

// Watch returns what ends when it does not any more. While it is watched the
// socket lasts, whatever has become of the request.
func (p *pass) Watch() (lost context.Context, release func()) {
	lost, unwatch := p.keys.WatchKey(p.grant)
	if p.socket == nil {
		return lost, unwatch
	}
	over := p.socket()
	p.socket = nil
	return lost, func() {
		unwatch()
		over()
	}
}
