package api

import (
	"net/http"
	"time"

	"parley/appliance/contract"
)

// Metrics counts what the box does and serves the counts.
type Metrics interface {
	http.Handler
	// Answered counts a request. route is the pattern that matched its path, and
	// not the path, to bound the number of series; it is empty if none matched.
	Answered(route, method string, status int, took time.Duration)
}

// metrics serves the figures of the whole box. They reveal the load of other
// accounts, so only an operator may read them.
func (a *API) metrics(w http.ResponseWriter, r *http.Request, _ caller) error {
	if a.Metrics == nil {
		return contract.ErrUnavailable{Why: "this box collects no metrics"}
	}
	a.Metrics.ServeHTTP(w, r)
	return nil
}
