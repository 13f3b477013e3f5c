package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"parley/appliance/contract"
	"parley/store"
)

// Keys knows whose an API key is.
type Keys interface {
	// AccountOf returns the account that the key opens; store.ErrNotFound for
	// a key that is unknown or revoked.
	AccountOf(ctx context.Context, apiKey string) (account string, err error)
}

// longestKey is far above the keys that the box makes. What is longer is not
// worth a look into the store.
const longestKey = 512

// account returns whose request it is. The same is said of a wrong key as of a
// revoked one: which it was is no business of one who guesses.
func (a *API) account(r *http.Request) (string, error) {
	key := apiKey(r)
	if key == "" {
		return "", contract.ErrUnauthorized{Why: "no API key; send it in the header X-Service-Api-Key or in the query parameter api_key"}
	}
	wrong := contract.ErrUnauthorized{Why: "the API key is unknown or was revoked"}
	if len(key) > longestKey {
		return "", wrong
	}
	account, err := a.Keys.AccountOf(r.Context(), key)
	if errors.Is(err, store.ErrNotFound) {
		return "", wrong
	}
	return account, err
}

// apiKey finds the key where clients put it: Python's in a header, JavaScript's
// in a header or, for a WebSocket, in the query.
func apiKey(r *http.Request) string {
	q := r.URL.Query()
	return strings.TrimSpace(cmp.Or(
		r.Header.Get("X-Service-Api-Key"), r.Header.Get("X-Hume-Api-Key"),
		q.Get("api_key"), q.Get("apiKey"),
	))
}
