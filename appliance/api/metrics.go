package api

import (
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

// metrics tells the figures of the whole box. How busy it is would tell one
// account of the others, so they are the operator's.
func (a *API) metrics(w http.ResponseWriter, r *http.Request, _ caller) error {
	if a.Metrics == nil {
		return contract.ErrUnavailable{Why: "this box counts nothing"}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}
