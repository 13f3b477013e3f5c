package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// Keys knows what API keys and access tokens open.
type Keys interface {
	// OpenKey returns what the key opens; store.ErrNotFound for a key that is
	// unknown or revoked.
	OpenKey(ctx context.Context, apiKey string) (store.Grant, error)
	// OpenToken returns what the token opens at that time; store.ErrNotFound
	// for one that is unknown, expired, or of a key that is not what it was.
	OpenToken(ctx context.Context, token string, at time.Time) (store.Grant, error)
	// Holds returns store.ErrNotFound once the key behind a grant was revoked
	// or regenerated.
	Holds(ctx context.Context, g store.Grant) error
	// CreateToken makes a token for who has the key with its secret;
	// store.ErrNotFound for who has not.
	CreateToken(ctx context.Context, apiKey, secret string, at time.Time) (token string, err error)
}

// longestKey is far above the keys that the box makes. What is longer is not
// worth a look into the store.
const longestKey = 512

// credential is what a request brings to be let in.
type credential struct {
	text  string
	token bool // an access token, not an API key
}

// presented finds the credential where clients put it: Python's key in a
// header, JavaScript's in a header or, for a WebSocket, in the query; a token
// in Authorization or in the query. A key counts before a token, a header
// before the query.
func presented(r *http.Request) credential {
	if key := firstFilled(r.Header.Get("X-Service-Api-Key"), r.Header.Get("X-Hume-Api-Key")); key != "" {
		return credential{text: key}
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && strings.TrimSpace(token) != "" {
		return credential{strings.TrimSpace(token), true}
	}
	q := r.URL.Query()
	if key := firstFilled(q.Get("api_key"), q.Get("apiKey")); key != "" {
		return credential{text: key}
	}
	return credential{firstFilled(q.Get("access_token"), q.Get("accessToken")), true}
}

// firstFilled is the first text that is not blank, without the space around it;
// clients send blank ones for what they have not set.
func firstFilled(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// caller returns what the request's credential opens. The same is said of a
// wrong one as of a revoked or expired one: which it was is no business of one
// who guesses.
func (a *API) caller(r *http.Request) (store.Grant, error) {
	c := presented(r)
	if c.text == "" {
		return store.Grant{}, contract.ErrUnauthorized{Why: "no API key and no access token; send a key in the header X-Service-Api-Key or in the query parameter api_key, or a token as Authorization: Bearer or in the query parameter access_token"}
	}
	g, err := a.grant(r.Context(), c)
	if errors.Is(err, store.ErrNotFound) {
		if c.token {
			return store.Grant{}, a.wrong(r, "the access token is unknown, has expired, or its key was revoked; POST /oauth2-cc/token makes a new one")
		}
		return store.Grant{}, a.wrong(r, "the API key is unknown or was revoked")
	}
	if err == nil && c.token && !openToTokens(r.URL.Path) {
		return store.Grant{}, contract.ErrForbidden{Why: "access tokens open the assistant and the text-to-speech API only; send an API key here"}
	}
	return g, err
}

func (a *API) grant(ctx context.Context, c credential) (store.Grant, error) {
	switch {
	case len(c.text) > longestKey:
		return store.Grant{}, store.ErrNotFound
	case c.token:
		return a.Keys.OpenToken(ctx, c.text, a.now())
	}
	return a.Keys.OpenKey(ctx, c.text)
}

// openToTokens says whether an access token opens the path. Tokens are for
// browsers and phones, so what is not named here stays closed to them.
func openToTokens(path string) bool {
	return strings.HasPrefix(path, "/v0/evi/") || strings.HasPrefix(path, "/v0/tts/") || path == "/v0/tts"
}

// wrong counts a wrong credential and returns the answer to it. Who sends too
// many is told to wait; what is right goes on working, for others may share the
// address.
func (a *API) wrong(r *http.Request, why string) error {
	wait, begins := a.tries.note(address(r), a.now())
	if wait <= 0 {
		return contract.ErrUnauthorized{Why: why}
	}
	if begins {
		a.Log.WarnContext(r.Context(), "too many wrong keys from an address: more of them are answered with 429", "client", r.RemoteAddr, "seconds", int(wait.Seconds()))
	}
	return contract.ErrTooMany{What: "too many wrong keys or tokens from this address", RetryAfter: wait}
}

// chat lets a conversation begin. Who holds it open is asked about again while
// it lasts.
func (a *API) chat(w http.ResponseWriter, r *http.Request) error {
	g, err := a.caller(r)
	if err != nil {
		return err
	}
	return a.Chats.ServeChat(w, r, g.AccountID, func(ctx context.Context) error {
		err := a.Keys.Holds(ctx, g)
		if errors.Is(err, store.ErrNotFound) {
			return contract.ErrUnauthorized{Why: "the API key was revoked or regenerated"}
		}
		return err
	})
}
