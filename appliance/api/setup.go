package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/internal/password"
	"parley/store"
)

// BoxSetUp sets the box up from the console.
type BoxSetUp interface {
	// Facts returns the present settings and what the machine allows.
	Facts(ctx context.Context) (contract.ReturnSetUp, error)
	// Check returns what is wrong with settings, without the password.
	Check(s contract.PostedSetUp) contract.ReturnSetUpCheck
	// Write writes the settings and returns the packs that are missing for them.
	Write(ctx context.Context, s contract.PostedSetUp) (contract.ReturnSetUpDone, error)
	// Restart restarts the box a moment later, with the settings as they are written. host is the
	// name by which the client reaches the box now. The error is a contract.ErrConflict if the
	// settings do not load.
	Restart(ctx context.Context, host string) (contract.ReturnRestart, error)
}

// ifSetUp answers 503 where the box cannot set itself up.
func (a *API) ifSetUp(handle handler) handler {
	has := func() bool { return a.BoxSetUp != nil && a.Records != nil }
	return available(has, "this box cannot set itself up", handle)
}

// forwarded are headers that a proxy adds: behind one, every client seems to be on this machine.
func forwarded() []string {
	return []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}
}

// fromThisMachine returns why a request is not one of a person in front of the machine: it comes
// over the network or a proxy, or from a page whose name leads to this machine (DNS rebinding).
func fromThisMachine(r *http.Request) error {
	refuse := func(why string) error {
		return contract.ErrForbidden{Why: "only a browser on the box itself may set it up, at http://127.0.0.1 or " +
			"http://localhost, or one that is signed in with the link of parley console; " + why}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return refuse("this request comes from " + hostOf(r))
	}
	host := hostName(r)
	if ip, err := netip.ParseAddr(host); !strings.EqualFold(host, "localhost") && (err != nil || !ip.IsLoopback()) {
		return refuse(fmt.Sprintf("this request is for %.80q", r.Host))
	}
	for _, name := range forwarded() {
		if r.Header.Get(name) != "" {
			return refuse("this request came through a proxy (" + name + ")")
		}
	}
	// nginx adds no header by default, but speaks HTTP/1.0 by default, which no browser speaks.
	if !r.ProtoAtLeast(1, 1) {
		return refuse("this request came through a proxy (HTTP/1.0)")
	}
	if r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" { // a browser
		return requireSameOrigin(r)
	}
	return nil
}

// hostName returns the name or address by which the client reaches the box, without the port.
func hostName(r *http.Request) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// errSetUp answers whoever comes too late.
var errSetUp = contract.ErrConflict{Why: "this box is set up already; change it with parley setup, on the box"}

// maySetUp returns whether a client may set the box up: the first visitor, on the machine itself,
// of a box that never had an operator; or an operator's session, until the box was set up once.
func (a *API) maySetUp(r *http.Request) (session *store.Grant, err error) {
	state, err := a.Records.SetUpState(r.Context())
	if err != nil {
		return nil, err
	}
	if c := credentialOf(r); c.cookie {
		if g, err := a.Keys.OpenSession(r.Context(), c.text, a.now()); err == nil {
			if err := requireSameOrigin(r); err != nil {
				return nil, err
			}
			if state.Done {
				return nil, errSetUp
			}
			return &g, nil
		}
	}
	if state.HasOperator {
		return nil, errSetUp
	}
	return nil, fromThisMachine(r)
}

// waysToSignIn answers how this client can sign in.
func (a *API) waysToSignIn(w http.ResponseWriter, r *http.Request, _ caller) error {
	ways := contract.ReturnSignIn{}
	if a.Records != nil {
		_, _, err := a.Records.ConsolePassword(r.Context())
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		ways.Password = err == nil
		if a.BoxSetUp != nil {
			_, err = a.maySetUp(r)
			ways.SetUp = err == nil
		}
	}
	return a.result(w, http.StatusOK, ways, nil)
}

func (a *API) getSetUp(w http.ResponseWriter, r *http.Request, _ caller) error {
	if _, err := a.maySetUp(r); err != nil {
		return err
	}
	facts, err := a.BoxSetUp.Facts(r.Context())
	return a.result(w, http.StatusOK, facts, err)
}

func (a *API) checkSetUp(w http.ResponseWriter, r *http.Request, _ caller) error {
	_, _, found, err := a.postedSetUp(r)
	return a.result(w, http.StatusOK, found, err)
}

// postedSetUp returns the settings in a request, its session if it has one, and what is wrong with
// the settings.
func (a *API) postedSetUp(r *http.Request) (s contract.PostedSetUp, session *store.Grant,
	found contract.ReturnSetUpCheck, err error) {
	if session, err = a.maySetUp(r); err != nil {
		return s, nil, found, err
	}
	if s, err = decode(r, contract.Parse[contract.PostedSetUp]); err != nil {
		return s, nil, found, err
	}
	return s, session, a.examineSetUp(s, session), nil
}

// examineSetUp returns what is wrong with a set-up, with the password. A client without a session
// needs one, or its browser could not come back.
func (a *API) examineSetUp(s contract.PostedSetUp, session *store.Grant) contract.ReturnSetUpCheck {
	found := a.BoxSetUp.Check(s)
	if s.Password != "" || session == nil {
		if err := password.Check(s.Password); err != nil {
			found.Problems = append(found.Problems, contract.ReturnSetUpProblem{Field: "password", Why: err.Error()})
		}
	}
	return found
}

// setUp writes the settings. The first visitor becomes the operator: its password is set, and its
// browser is signed in.
func (a *API) setUp(w http.ResponseWriter, r *http.Request, _ caller) error {
	body, session, found, err := a.postedSetUp(r)
	if err != nil {
		return err
	}
	if len(found.Problems) > 0 {
		p := found.Problems[0]
		return contract.ErrInvalid{Field: firstNonBlank(p.Field, "settings"), Why: p.Why}
	}
	if session == nil {
		err = a.firstVisit(w, r, body.Password)
	} else if body.Password != "" {
		err = a.firstPassword(r, session.Session, body.Password)
	}
	if err != nil {
		return err
	}
	done, err := a.BoxSetUp.Write(r.Context(), body)
	if err != nil {
		return err
	}
	return a.result(w, http.StatusOK, done, a.Records.FinishSetUp(r.Context(), a.now()))
}

// firstVisit makes the first visitor the operator; of two at once it refuses one.
func (a *API) firstVisit(w http.ResponseWriter, r *http.Request, secret string) error {
	cookie, session, err := a.Records.FirstVisit(r.Context(), secret, browserOf(r), hostOf(r), a.now())
	if errors.Is(err, store.ErrNotFound) {
		return errSetUp
	}
	if err != nil {
		return err
	}
	a.Log.InfoContext(r.Context(), "the first visitor sets the box up", "session", session.ID, "client", r.RemoteAddr)
	a.recent.remember(cookie, "")
	setSessionCookie(w, r, cookie, int(store.SessionLife.Seconds()))
	return nil
}

// firstPassword sets the password of a console that has none. The present one is accepted too:
// an earlier try may have set it and failed afterwards.
func (a *API) firstPassword(r *http.Request, session, secret string) error {
	switch _, _, err := a.Records.ConsolePassword(r.Context()); {
	case err == nil:
		_, err := a.checkPassword(r, secret)
		if _, wrong := errors.AsType[contract.ErrUnauthorized](err); !wrong {
			return err
		}
		return contract.ErrConflict{Why: "the console has a password already; leave it out here, and change it with " +
			"PUT /v0/box/password"}
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	_, err := a.Records.SetConsolePassword(r.Context(), secret, session, a.now())
	return err
}

// restart restarts the box.
func (a *API) restart(w http.ResponseWriter, r *http.Request, _ caller) error {
	where, err := a.BoxSetUp.Restart(r.Context(), hostName(r))
	return a.result(w, http.StatusAccepted, where, err)
}

func aboutSetUp() descriptions {
	const who = "For the first visitor of a box that never had an operator, in a browser on the box itself, and for " +
		"a session of the console until the box was set up once. "
	const example = `{"listen":"0.0.0.0:8443","profile":"small","tls":"auto","password":"a good password"}`
	return inSection("The console", descriptions{
		"GET /v0/box/sign-in": {
			ID:      "getSignIn",
			Summary: "Get the ways to sign in",
			Answers: ok(contract.ReturnSignIn{}),
		},
		"GET /v0/box/setup": {
			ID:          "getSetUp",
			Summary:     "Get what set-up can choose",
			Description: who + "It has the present values, and what the machine allows.",
			Answers:     ok(contract.ReturnSetUp{}),
			Errors:      []int{403, 409},
		},
		"POST /v0/box/setup/check": {
			ID:          "checkSetUp",
			Summary:     "Check a set-up",
			Description: who + "Nothing is changed.",
			Body:        "PostedSetUp",
			Example:     example,
			Answers:     ok(contract.ReturnSetUpCheck{}),
			Errors:      []int{403, 409},
		},
		"POST /v0/box/setup": {
			ID:      "setUp",
			Summary: "Set the box up",
			Description: who + "It sets the password, signs the first visitor in, writes the settings, and names the " +
				"packs that are missing. They hold after POST /v0/box/restart.",
			Body:    "PostedSetUp",
			Example: example,
			Answers: ok(contract.ReturnSetUpDone{}),
			Errors:  []int{403, 409},
		},
		"POST /v0/box/restart": {
			ID:      "restartBox",
			Summary: "Restart the box",
			Description: "Chats are ended as when the box stops. The box starts again with the settings as they are " +
				"in the file then.",
			Answers: []describe.Answer{{
				Status:      http.StatusAccepted,
				Description: "The box restarts",
				Value:       contract.ReturnRestart{},
			}},
			Errors: []int{409},
		},
	})
}

// passwordPatience is how long a sign-in waits for others whose passwords are compared.
const passwordPatience = 10 * time.Second
