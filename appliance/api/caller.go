package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// Keys authenticates API keys, access tokens and sessions.
type Keys interface {
	// OpenKey returns what an API key opens. The error is store.ErrNotFound for a
	// key that is unknown or revoked.
	OpenKey(ctx context.Context, apiKey string) (store.Grant, error)
	// OpenToken returns what an access token opens. The error is
	// store.ErrNotFound for a token that is unknown or expired, or whose key was
	// revoked or regenerated.
	OpenToken(ctx context.Context, token string, at time.Time) (store.Grant, error)
	// Holds returns store.ErrNotFound if the key behind a grant was revoked or
	// regenerated.
	Holds(ctx context.Context, g store.Grant) error
	// WatchKey returns a context that ends when the grant becomes invalid.
	// release must be called once.
	WatchKey(g store.Grant) (lost context.Context, release func())
	// Pair exchanges a pairing code for the key of a screen. The error is
	// store.ErrNotFound for an invalid code.
	Pair(ctx context.Context, code string, at time.Time) (store.Credentials, store.Kiosk, error)
	// SignIn exchanges a sign-in link for a console session and returns the value
	// of the session's cookie. The error is store.ErrNotFound for an invalid
	// link.
	SignIn(ctx context.Context, link, browser, address string, at time.Time) (cookie string, session store.Session,
		err error)
	// OpenSession returns what a session's cookie opens. The error is
	// store.ErrNotFound for a session that is unknown, ended or expired.
	OpenSession(ctx context.Context, cookie string, at time.Time) (store.Grant, error)
	// CreateToken issues an access token. The error is store.ErrNotFound unless
	// the API key and its secret are valid.
	CreateToken(ctx context.Context, apiKey, secret string, at time.Time) (token string, err error)
}

// caller is the account and the key of a request. It is empty on routes that ask
// for neither.
type caller struct {
	store.Grant
	client basicCredentials // on routes with access bySecret
}

// basicCredentials are an API key and its secret key.
type basicCredentials struct{ key, secret string }

// maxKeyBytes is far above the length of the box's keys. A longer credential is
// rejected without a query.
const maxKeyBytes = 512

// credential is the key, token or session of a request.
type credential struct {
	text    string
	token   bool // an access token, not an API key
	inQuery bool
	cookie  bool // a session of the console
}

// credentialOf returns the credential of a request. A key comes before a token, a
// header before the query, and the cookie is last, because a browser sends it
// with every request. Python clients send the key in a header; JavaScript clients
// send it in a header or, for a WebSocket, in the query.
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
		if key := firstNonBlank(q.Get("api_key"), q.Get("apiKey"), q.Get("apikey")); key != "" {
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

// firstNonBlank returns the first text that is not blank, without the space
// around it. Clients send blank values for parameters that they have not set.
func firstNonBlank(texts ...string) string {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// admit returns the caller of a request, and an error unless the route admits it and its
// rate limit allows the request. A credential that has not been verified lately counts
// against the rate of its address before any lookup, so a flood of wrong ones
// costs no queries.
func (a *API) admit(rt route, r *http.Request) (caller, error) {
	if slices.Contains([]describe.Access{byToken, byKey, byBearer, byOperator}, rt.access) {
		return a.admitKey(rt, r)
	}
	// A POST that needs no key carries a sign-in link or a pairing code.
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

// admitKey admits a request with a valid key, session or, on routes with access
// token, an access token. The error is the same for unknown, revoked and expired
// credentials, so it tells an attacker nothing.
func (a *API) admitKey(rt route, r *http.Request) (caller, error) {
	c := credentialOf(r)
	bearer := rt.access == byBearer && c.token
	if bearer {
		c.token = false // clients of OpenAI's API send their key so
	}
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
	if bearer && errors.Is(err, store.ErrNotFound) && len(c.text) <= maxKeyBytes {
		if of, isToken := a.Keys.OpenToken(r.Context(), c.text, a.now()); isToken == nil {
			g, err, c.token = of, nil, true // it gets a better answer than that it is unknown
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		a.recent.forget(c.text)
		if c.cookie {
			return caller{}, a.wrongCredential(r, "the session of the console has ended or expired; "+
				"parley console link prints a new sign-in link")
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
		return by, contract.ErrForbidden{Why: "an access token may not do this: it opens live chats, speech " +
			"and the list of voices, and nothing else; send an API key in the header X-Service-Api-Key, from a server"}
	}
	if rt.access == byOperator && g.Role != store.OperatorKey {
		return by, contract.ErrForbidden{Why: "this needs an operator's key, and this is a client's; " +
			"parley keys create --role operator makes one"}
	}
	return by, nil
}

// missingCredential returns the error text for a request without a credential.
func missingCredential(rt route) string {
	switch {
	case rt.access != byToken && rt.keyInQuery():
		return "no API key; send " + headersFor(rt) + " or in the query parameter api_key"
	case rt.access != byToken:
		return "no API key; send " + headersFor(rt)
	case rt.keyInQuery():
		return "no API key and no access token; " +
			"send a key in the header X-Service-Api-Key or in the query parameter api_key, " +
			"or a token as Authorization: Bearer or in the query parameter access_token"
	}
	return "no API key and no access token; send " + headersFor(rt)
}

// headersFor names the headers that open a route.
func headersFor(rt route) string {
	switch rt.access {
	case byToken:
		return "a key in the header X-Service-Api-Key, or a token as Authorization: Bearer"
	case byBearer:
		return "a key of this box as Authorization: Bearer"
	}
	return "a key in the header X-Service-Api-Key"
}

// countRequest counts a request before its credential is looked up: for its
// account if the credential was valid lately, otherwise for its address.
func (a *API) countRequest(account string, isKnown bool, c credential, r *http.Request) error {
	switch {
	case !isKnown:
		return a.rates.allowAddress(r, c.text != "")
	case account != "":
		return a.rates.allowAccount(account)
	}
	return nil // a new credential, whose account is not known yet: admitKey counts it
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

// admitSecret returns the API key and its secret key from Authorization: Basic.
// makeToken verifies them.
func (a *API) admitSecret(r *http.Request) (caller, error) {
	key, secret, _ := r.BasicAuth()
	if key == "" || secret == "" {
		return caller{},
			invalidClient("send the API key and its secret key as Authorization: Basic, joined by a colon, in base64")
	}
	return caller{client: basicCredentials{key, secret}}, nil
}

// wrongTooOften is refused after too many wrong credentials.
const wrongTooOften = "too many wrong keys or tokens from this address"

// wrongCredential counts a wrong credential for its address and returns the
// error: 401, or 429 after too many. Valid credentials keep working, because
// several clients may share an address.
func (a *API) wrongCredential(r *http.Request, why string) error {
	wait, begins := a.wrongKeys.count(address(r), a.now())
	if wait <= 0 {
		return contract.ErrUnauthorized{Why: why}
	}
	if begins {
		a.Log.WarnContext(r.Context(), "too many wrong keys from one address: answering more of them with 429",
			"client", r.RemoteAddr, "seconds", int(wait.Seconds()))
	}
	return contract.ErrTooMany{What: wrongTooOften, RetryAfter: wait}
}
