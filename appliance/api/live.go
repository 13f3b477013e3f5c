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
	return a.Chats.ServeChat(w, r, by.AccountID, pass{a.Keys, by.Grant})
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
	return a.Chats.Follow(w, r, by.AccountID, r.PathValue("id"), sound, pass{a.Keys, by.Grant})
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
	if err != nil {
		return err
	}
	a.reply(w, http.StatusOK, taken{})
	return nil
}

// pass is the key that opened a socket.
type pass struct {
	keys  Keys
	grant store.Grant
}

// Holds asks whether it still opens what it opened.
func (p pass) Holds(ctx context.Context) error {
	err := p.keys.Holds(ctx, p.grant)
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrUnauthorized{Why: "the API key was revoked or regenerated"}
	}
	return err
}

// Watch returns what ends when it does not any more.
func (p pass) Watch() (lost context.Context, release func()) { return p.keys.WatchKey(p.grant) }
