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
	// WatchKey returns a context that ends when that has happened. release,
	// called once, gives the watch back.
	WatchKey(g store.Grant) (lost context.Context, release func())
	// Pair makes the key of a screen for its code; store.ErrNotFound for a code
	// that is not good.
	Pair(ctx context.Context, code string, at time.Time) (store.Credentials, store.Kiosk, error)
	// SignIn makes a session of the console for who has a link, and returns what
	// its cookie is to hold; store.ErrNotFound for a link that is not good.
	SignIn(ctx context.Context, link, browser, address string, at time.Time) (cookie string, made store.Session,
		err error)
	// OpenSession returns what a session's cookie opens at that time;
	// store.ErrNotFound for one that is unknown, was ended, or whose time is over.
	OpenSession(ctx context.Context, cookie string, at time.Time) (store.Grant, error)
	// CreateToken makes a token for who has the key with its secret;
	// store.ErrNotFound for who has not.
	CreateToken(ctx context.Context, apiKey, secret string, at time.Time) (token string, err error)
}

// caller is who sent a request: the account and the key behind it. It is empty
// where a route asks for neither.
type caller struct {
	store.Grant
	client basicCredentials // of a route that wants the key with its secret
}

// basicCredentials are an API key and its secret key.
type basicCredentials struct{ key, secret string }

// maxKeyBytes is far above the keys that the box makes. What is longer is not
// worth a look into the store.
const maxKeyBytes = 512

// credential is what a request brings to be let in.
type credential struct {
	text    string
	token   bool // an access token, not an API key
	inQuery bool
	cookie  bool // of a session of the console
}

// credentialOf finds the credential where clients put it: Python's key in a
// header, JavaScript's in a header or, for a WebSocket, in the query; a token
// in Authorization or in the query; the console's session in a cookie. A key counts
// before a token, a header before the query, and the cookie, which a browser sends
// whatever else it is told to send, is the last.
func credentialOf(r *http.Request) credential {
	if key := firstNonBlank(r.Header.Get("X-Service-Api-Key"), r.Header.Get("X-Hume-Api-Key")); key != "" {
		return credential{text: key}
	}
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") &&
		strings.TrimSpace(token) != "" {
		return credential{text: strings.TrimSpace(token), token: true}
	}
	if r.URL.RawQuery != "" {
		q := r.URL.Query()
		if key := firstNonBlank(q.Get("api_key"), q.Get("apiKey")); key != "" {
			return credential{text: key, inQuery: true}
		}
		if token := firstNonBlank(q.Get("access_token"), q.Get("accessToken")); token != "" {
			return credential{text: token, token: true, inQuery: true}
		}
	}
	if c, err := r.Cookie(sessionCookie(r)); err == nil && c.Value != "" {
		return credential{text: c.Value, cookie: true}
	}
	return credential{}
}

// firstNonBlank is the first text that is not blank, without the space around it;
// clients send blank ones for what they have not set.
func firstNonBlank(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// admit returns who sent the request, if the row lets them in and there is room
// for it in their share. What may turn out to be wrong takes from the address's
// share before anybody looks it up, so a flood of it ends here.
func (a *API) admit(rt route, r *http.Request) (caller, error) {
	if rt.access == byToken || rt.access == byKey || rt.access == byOperator {
		return a.admitKey(rt, r)
	}
	// Whoever posts without a key brings a link or a code that is good once.
	looksUp := rt.access != byAnyone || rt.method == http.MethodPost
	if err := a.rates.allowAddress(r, looksUp); err != nil {
		return caller{}, err
	}
	switch rt.access {
	case byLink:
		return a.checkLink(r)
	case bySecret:
		return a.admitSecret(r)
	}
	return caller{}, nil
}

// admitKey lets in who brings a valid key or, where the row says that it takes
// tokens, a valid token. The same is said of a wrong one as of a revoked or expired
// one: which it was is no business of one who guesses.
func (a *API) admitKey(rt route, r *http.Request) (caller, error) {
	c := credentialOf(r)
	account, isKnown := a.recent.accountOf(c.text)
	if err := a.countRequest(account, isKnown, c, r); err != nil {
		return caller{}, err
	}
	switch {
	case c.text == "":
		return caller{}, contract.ErrUnauthorized{Why: missingCredential(rt)}
	case c.inQuery && !rt.keyInQuery():
		return caller{}, contract.ErrUnauthorized{Why: "keys and tokens in the query are for live chats only, " +
			"since queries end up in logs and histories; send " + headersFor(rt)}
	}
	if c.cookie {
		if err := requireSameOrigin(r); err != nil {
			return caller{}, err
		}
	}
	g, err := a.lookUp(r.Context(), c)
	if errors.Is(err, store.ErrNotFound) {
		a.recent.forget(c.text)
		if c.cookie {
			return caller{}, a.wrongCredential(r, "the session of the console was ended, or its time is over; parley "+
				"console link prints a link that signs in again")
		}
		if c.token {
			return caller{}, a.wrongCredential(r, "the access token is unknown, has expired, or its key was revoked; "+
				"POST /oauth2-cc/token makes a new one")
		}
		return caller{}, a.wrongCredential(r, "the API key is unknown, has expired, or was revoked")
	}
	if err != nil {
		return caller{}, err
	}
	a.recent.remember(c.text, g.AccountID)
	if account == "" {
		if err := a.rates.allowAccount(g.AccountID); err != nil {
			return caller{}, err
		}
	}
	by := caller{Grant: g}
	if g.Kiosk != nil {
		return by, admitKiosk(rt, r, by)
	}
	if c.token && rt.access != byToken {
		return caller{}, contract.ErrForbidden{Why: "an access token may not do this: it opens live chats, speech " +
			"and the list of voices, " +
			"and nothing else; send an API key in the header X-Service-Api-Key, from a server"}
	}
	if rt.access == byOperator && g.Role != store.OperatorKey {
		return caller{}, contract.ErrForbidden{Why: "this is of the whole box, and this is a client's key; a key of " +
			"an operator opens it (parley keys create --role operator)"}
	}
	return by, nil
}

// missingCredential says what a row wants of who brings nothing.
func missingCredential(rt route) string {
	switch {
	case rt.access != byToken:
		return "no API key; send " + headersFor(rt)
	case rt.keyInQuery():
		return "no API key and no access token; " +
			"send a key in the header X-Service-Api-Key or in the query parameter api_key, " +
			"or a token as Authorization: Bearer or in the query parameter access_token"
	}
	return "no API key and no access token; send " + headersFor(rt)
}

// headersFor says which headers open a row.
func headersFor(rt route) string {
	if rt.access == byToken {
		return "a key in the header X-Service-Api-Key, or a token as Authorization: Bearer"
	}
	return "a key in the header X-Service-Api-Key"
}

// countRequest counts a request before what it brings is looked up: of the account
// that has lately opened the box with it, and of the address where none has.
func (a *API) countRequest(account string, isKnown bool, c credential, r *http.Request) error {
	switch {
	case !isKnown:
		return a.rates.allowAddress(r, c.text != "")
	case account != "":
		return a.rates.allowAccount(account)
	}
	return nil // it was made just now: its account is counted when it is known
}

func (a *API) lookUp(ctx context.Context, c credential) (store.Grant, error) {
	switch {
	case len(c.text) > maxKeyBytes:
		return store.Grant{}, store.ErrNotFound
	case c.token:
		return a.Keys.OpenToken(ctx, c.text, a.now())
	case c.cookie:
		return a.Keys.OpenSession(ctx, c.text, a.now())
	}
	return a.Keys.OpenKey(ctx, c.text)
}

// admitSecret wants the API key with its secret key, as Authorization: Basic.
// Whether they are right is seen where the token is made, in one step with it.
func (a *API) admitSecret(r *http.Request) (caller, error) {
	key, secret, _ := r.BasicAuth()
	if key == "" || secret == "" {
		return caller{},
			invalidClient("send the API key and its secret key as Authorization: Basic, joined by a colon, in base64")
	}
	return caller{client: basicCredentials{key, secret}}, nil
}

// wrongCredential counts a wrong credential and returns the answer to it. Who sends too
// many is told to wait; what is right goes on working, for others may share the
// address.
func (a *API) wrongCredential(r *http.Request, why string) error {
	wait, begins := a.wrongKeys.count(address(r), a.now())
	if wait <= 0 {
		return contract.ErrUnauthorized{Why: why}
	}
	if begins {
		a.Log.WarnContext(r.Context(), "too many wrong keys from an address: more of them are answered with 429",
			"client", r.RemoteAddr, "seconds", int(wait.Seconds()))
	}
	return contract.ErrTooMany{What: "too many wrong keys or tokens from this address", RetryAfter: wait}
}
