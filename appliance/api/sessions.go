package api

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"

	"parley/appliance/contract"
	"parley/store"
)

// signIn exchanges a sign-in link or the password for a session of the console.
func (a *API) signIn(w http.ResponseWriter, r *http.Request, _ caller) error {
	if r.Header.Get("Sec-Fetch-Site") != "" || r.Header.Get("Origin") != "" { // a browser
		if err := requireSameOrigin(r); err != nil {
			return err
		}
	}
	body, err := decode(r, contract.Parse[contract.PostedSignIn])
	if err != nil {
		return err
	}
	cookie, session, err := a.signInBy(r, body)
	if err != nil {
		return err
	}
	a.Log.InfoContext(r.Context(), "signed in to the console", "session", session.ID, "client", r.RemoteAddr)
	a.recent.remember(cookie, "")
	setSessionCookie(w, r, cookie, int(store.SessionLife.Seconds()))
	return a.result(w, http.StatusCreated, sessionRecord(session, session.ID), nil)
}

// hostOf returns the address that sent a request, without its port; empty for a Unix
// socket.
func hostOf(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr) // empty without a port
	return host
}

// setSessionCookie sets the session cookie; seconds of -1 delete it. Scripts
// cannot read it, and the browser does not send it for pages of other sites.
func setSessionCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name:     sessionCookie(r),
		Value:    value,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		SameSite: http.SameSiteStrictMode,
		Secure:   r.TLS != nil,
	})
}

func sessionRecord(s store.Session, current string) contract.ReturnSession {
	return contract.ReturnSession{
		ID:        s.ID,
		Account:   s.Account,
		Browser:   s.Browser,
		Address:   s.Address,
		CreatedOn: s.CreatedMS,
		UsedOn:    s.UsedMS,
		ExpiresOn: s.ExpiresMS,
		Current:   s.ID == current,
	}
}

// operator answers with the account and the session of the caller.
func (a *API) operator(w http.ResponseWriter, r *http.Request, by caller) error {
	who, err := a.operatorRecord(r, by)
	return a.result(w, http.StatusOK, who, err)
}

func (a *API) operatorRecord(r *http.Request, by caller) (who contract.ReturnOperator, err error) {
	who.Version, who.Hub = a.Version, a.Fleet != nil
	if who.Managed, err = a.managed(r.Context()); err != nil {
		return who, err
	}
	accounts, err := a.Records.Accounts(r.Context())
	if err != nil {
		return who, err
	}
	for _, one := range accounts {
		who.Accounts = append(who.Accounts, one.Name)
		if one.ID == by.AccountID {
			who.Account = one.Name
		}
	}
	sessions, err := a.Records.Sessions(r.Context(), a.now())
	if err != nil {
		return who, err
	}
	for _, s := range sessions {
		if s.ID == by.Session {
			one := sessionRecord(s, by.Session)
			who.Session = &one
		}
	}
	return who, nil
}

// managed returns what the hub of the fleet manages on the box; nil if the box is in no fleet.
func (a *API) managed(ctx context.Context) (*contract.ReturnManaged, error) {
	f, err := a.Records.Fleet(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ids, err := a.Records.Managed(ctx)
	return &contract.ReturnManaged{Hub: f.Hub, IDs: append([]string{}, slices.Sorted(maps.Keys(ids))...)}, err
}

// switchAccount makes the caller's session act for another account.
func (a *API) switchAccount(w http.ResponseWriter, r *http.Request, by caller) error {
	if by.Session == "" {
		return contract.ErrForbidden{Why: "a key belongs to one account; only a session of the console can switch"}
	}
	body, err := decode(r, contract.Parse[contract.PostedSessionAccount])
	if err != nil {
		return err
	}
	account, err := a.Records.Account(r.Context(), body.Account)
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrInvalid{Field: "account",
			Why: "there is no account of this name; GET /v0/box/operator lists those that there are"}
	}
	if err != nil {
		return err
	}
	nameActObject(r, account.Name)
	if err := a.Records.SwitchAccount(r.Context(), by.Session, account.Name); err != nil {
		return err
	}
	by.AccountID = account.ID
	return a.operator(w, r, by)
}

func (a *API) listSessions(w http.ResponseWriter, r *http.Request, by caller) error {
	all, err := a.Records.Sessions(r.Context(), a.now())
	records := make([]contract.ReturnSession, len(all))
	for i, s := range all {
		records[i] = sessionRecord(s, by.Session)
	}
	return a.result(w, http.StatusOK, records, err)
}

// endSession signs out a browser: the caller's or another one.
func (a *API) endSession(w http.ResponseWriter, r *http.Request, by caller) error {
	id := r.PathValue("id")
	err := a.Records.EndSession(r.Context(), id)
	if err == nil && id == by.Session {
		setSessionCookie(w, r, "", -1)
	}
	return a.result(w, http.StatusOK, confirmation{"session ended"}, notFound(err, "session", id))
}

func aboutSessions() descriptions {
	return inSection("The console", descriptions{
		"POST /v0/box/sessions": {
			ID:      "signIn",
			Summary: "Sign a browser in",
			Description: "With a link, which parley console prints and which is valid once, for ten minutes; or with " +
				"the password of the console. The answer sets a cookie that opens what an operator's key opens, for " +
				"the box's pages only.",
			Body:    "PostedSignIn",
			Example: `{"link":"4tQpYz0aBcDe"}`,
			Answers: created(contract.ReturnSession{}),
			Errors:  []int{401, 403, 429},
		},
		"GET /v0/box/sessions": {
			ID:          "listSessions",
			Summary:     "List the signed-in browsers",
			Description: "Newest first.",
			Answers:     ok([]contract.ReturnSession{}),
		},
		"DELETE /v0/box/sessions/{id}": {
			ID:          "endSession",
			Summary:     "Sign a browser out",
			Description: "Ends its chats too.",
			Answers:     ok(confirmation{}),
		},
		"GET /v0/box/operator": {
			ID:      "getOperator",
			Summary: "Get the account that the caller acts for",
			Answers: ok(contract.ReturnOperator{}),
		},
		"PATCH /v0/box/operator": {
			ID:          "changeOperator",
			Summary:     "Act for another account",
			Description: "For sessions of the console only; a key belongs to one account.",
			Body:        "PostedSessionAccount",
			Example:     `{"account":"museum"}`,
			Answers:     ok(contract.ReturnOperator{}),
		},
	})
}
