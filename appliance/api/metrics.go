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

// mustOperate refuses whoever is not the operator. What steers the box, and what
// is of all accounts, is the operator's: how busy the box is would tell one
// account of the others.
func (a *API) mustOperate(ctx context.Context, by caller) error {
	ok, err := a.Operators.Operates(ctx, by.AccountID)
	if err == nil && !ok {
		err = contract.ErrForbidden{Why: "this is the operator's; a key of the operator's account opens it (parley keys create, without --account)"}
	}
	return err
}

// metrics tells the figures of the whole box.
func (a *API) metrics(w http.ResponseWriter, r *http.Request, _ caller) error {
	if a.Metrics == nil {
		return contract.ErrUnavailable{Why: "this box counts nothing"}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}
