package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"parley/appliance/contract"
	"parley/internal/password"
	"parley/store"
)

// checkPassword returns the hash of the console's password if it is secret. One password is
// compared at a time, which bounds the memory, and wrong ones are counted as wrong keys are. An
// address that has sent too many gets no further comparison until it may try again.
func (a *API) checkPassword(r *http.Request, secret string) (hash string, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), passwordPatience)
	defer cancel()
	select {
	case a.passwords <- struct{}{}:
		defer func() { <-a.passwords }()
	case <-ctx.Done():
		return "", contract.ErrTooMany{What: "sign-ins of others at once", RetryAfter: passwordPatience}
	}
	if wait := a.wrongKeys.wait(address(r), a.now()); wait > 0 {
		return "", contract.ErrTooMany{What: wrongTooOften, RetryAfter: wait}
	}
	hash, _, err = a.Records.ConsolePassword(r.Context())
	if errors.Is(err, store.ErrNotFound) {
		return "", a.wrongCredential(r, "the console has no password; parley console prints a link that signs in, "+
			"and parley setup sets a password")
	}
	if err != nil {
		return "", err
	}
	matches, err := password.Matches(hash, secret)
	if err != nil {
		return "", err
	}
	if !matches {
		return "", a.wrongCredential(r, "the password is wrong")
	}
	return hash, nil
}

// signInBy exchanges a link or the password for a session.
func (a *API) signInBy(r *http.Request, body contract.PostedSignIn) (cookie string, session store.Session, err error) {
	if (body.Link == "") == (body.Password == "") {
		return "", session, contract.ErrInvalid{Field: "link", Why: "send a link, or else a password"}
	}
	if body.Link != "" || a.Records == nil {
		cookie, session, err = a.Keys.SignIn(r.Context(), body.Link, browserOf(r), hostOf(r), a.now())
		if errors.Is(err, store.ErrNotFound) {
			err = a.wrongCredential(r,
				"this link is unknown, was used, or has expired; parley console prints a new one")
		}
		return cookie, session, err
	}
	hash, err := a.checkPassword(r, body.Password)
	if err != nil {
		return "", session, err
	}
	cookie, session, err = a.Records.SignInWithPassword(r.Context(), hash, browserOf(r), hostOf(r), a.now())
	if errors.Is(err, store.ErrNotFound) { // changed since it was compared
		err = a.wrongCredential(r, "the password is wrong")
	}
	return cookie, session, err
}

// browserOf returns the User-Agent of a request, as sessions store it.
func browserOf(r *http.Request) string {
	browser := []rune(strings.ToValidUTF8(r.UserAgent(), "?"))
	return string(browser[:min(len(browser), contract.MaxBrowserChars)])
}

// setPassword sets the password of the console. A session must show the present one: somebody may
// have left the browser alone.
func (a *API) setPassword(w http.ResponseWriter, r *http.Request, by caller, body contract.PostedPassword) error {
	if err := password.Check(body.Password); err != nil {
		return contract.ErrInvalid{Field: "password", Why: err.Error()}
	}
	_, _, err := a.Records.ConsolePassword(r.Context())
	switch {
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	case err == nil && by.Session != "":
		if _, err := a.checkPassword(r, body.Current); err != nil {
			if _, wrong := errors.AsType[contract.ErrUnauthorized](err); wrong {
				return contract.ErrForbidden{Why: "the present password is wrong"} // 401 would end the session's page
			}
			return err
		}
	}
	ended, err := a.Records.SetConsolePassword(r.Context(), body.Password, by.Session, a.now())
	return a.result(w, http.StatusOK, contract.ReturnPassword{SignedOut: ended}, err)
}

func aboutPassword() descriptions {
	return inSection("The console", descriptions{
		"PUT /v0/box/password": {
			ID:      "setPassword",
			Summary: "Set the password of the console",
			Description: "With it a browser signs in without a link. A session must send the present password too, " +
				"if there is one. All other sessions and all unused links end.",
			Body:    "PostedPassword",
			Example: `{"password":"a better password","current":"a good password"}`,
			Answers: ok(contract.ReturnPassword{}),
			Errors:  []int{403, 429},
		},
	})
}
