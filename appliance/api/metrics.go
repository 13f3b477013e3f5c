package api

import (
	"context"
	"net/http"
	"time"

	"parley/appliance/contract"
)

// Metrics counts what the box does and tells it to who asks.
type Metrics interface {
	http.Handler
	// Answered notes a request. The route is the pattern that its path fits,
	// so that there are only so many of them; empty where it fits none.
	Answered(route, method string, status int, took time.Duration)
}

// Operators knows whose box it is.
type Operators interface {
	// Operates says whether an account is the operator's own.
	Operates(ctx context.Context, accountID string) (bool, error)
}

// metrics tells the figures of the whole box. They are the operator's: how busy
// the box is would tell one account of the others.
func (a *API) metrics(w http.ResponseWriter, r *http.Request) error {
	g, err := a.caller(r)
	if err != nil {
		return err
	}
	ok, err := a.Operators.Operates(r.Context(), g.AccountID)
	if err != nil {
		return err
	}
	if !ok {
		return contract.ErrForbidden{Why: "the figures are of the whole box; a key of its operator's account opens them (parley keys create, without --account)"}
	}
	if a.Metrics == nil {
		return contract.ErrUnavailable{Why: "this box counts nothing"}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}
