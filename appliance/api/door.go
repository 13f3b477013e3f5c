package api

import (
	"context"
	"net/http"

	"parley/appliance/connection"
	"parley/appliance/contract"
	"parley/fleet/door"
	"parley/store"
)

// Door has boxes answer the clients of a hub.
type Door interface {
	// Serve answers a request by a box. If the error is not nil, nothing was written to w.
	Serve(w http.ResponseWriter, r *http.Request, asked door.Request) error
}

// atBox wraps the handlers of routes that need the models of a box: on a hub, a box answers them.
func (a *API) atBox(kind door.Kind) func(handler) handler {
	return func(handle handler) handler {
		return func(w http.ResponseWriter, r *http.Request, by caller) error {
			if a.Door == nil {
				return handle(w, r, by)
			}
			return a.throughDoor(kind, w, r, by)
		}
	}
}

// errScreenAtHub refuses the key of a screen that was paired with a hub.
var errScreenAtHub = contract.ErrForbidden{
	Why: "a screen talks to the box that it was paired with, and this is a hub; pair it with a box"}

// throughDoor has a box answer a request.
func (a *API) throughDoor(kind door.Kind, w http.ResponseWriter, r *http.Request, by caller) error {
	if by.Kiosk != nil {
		// The hub's own key opens more than the key of a screen.
		return errScreenAtHub
	}
	asked := door.Request{Kind: kind, ID: r.PathValue("id"), Account: by.AccountID, Portable: isPortable(r, by)}
	if r.Header.Get("Upgrade") != "" {
		if err := connection.CheckOrigin(r, a.Origins); err != nil {
			return err
		}
		lost, end := a.revocable(context.Background(), by)
		defer end()
		asked.Lost = lost
	}
	return a.Door.Serve(w, r, asked)
}

// isPortable reports whether the credential of a request opens boxes too: those of clients do, which each box has.
func isPortable(r *http.Request, by caller) bool {
	c := credentialOf(r)
	return !c.token && !c.cookie && by.Role != store.OperatorKey
}
