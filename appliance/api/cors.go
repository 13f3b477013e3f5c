package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// exposedHeaders are the headers that a page of another origin may read, besides
// those that the standard allows
// (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
const exposedHeaders = "X-Request-Id, Retry-After, Allow, WWW-Authenticate, Content-Disposition, Content-Range, " +
	"Accept-Ranges, Location, ETag"

// preflightSeconds is how long a browser may cache a preflight: two hours, the
// most that browsers allow.
const preflightSeconds = "7200"

// cors sets the headers that tell a browser what pages of other origins may do.
// It answers preflights, and done is then true. The API uses no cookies across
// origins, so a page gains nothing from an answer that it may not read.
func (a *API) cors(w http.ResponseWriter, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	preflight := r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
	if preflight {
		if err := a.rates.allowAddress(r, false); err != nil {
			a.answerError(w, r, err)
			return true
		}
	}
	switch {
	case slices.Contains(a.Origins, "*"):
		h.Set("Access-Control-Allow-Origin", "*")
	case slices.ContainsFunc(a.Origins, func(o string) bool { return strings.EqualFold(o, origin) }):
		h.Set("Access-Control-Allow-Origin", origin)
	case preflight:
		a.answerError(w, r, contract.ErrForbidden{Why: fmt.Sprintf("pages of origin %.80q may not use this box; its "+
			"operator can allow them with the setting origins", origin)})
		return true
	default:
		return false
	}
	h.Set("Access-Control-Expose-Headers", exposedHeaders)
	if !preflight {
		return false
	}
	h.Add("Vary", "Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		// Clients send custom headers, and * would not cover Authorization.
		h.Set("Access-Control-Allow-Headers", asked)
	}
	h.Set("Access-Control-Max-Age", preflightSeconds)
	w.WriteHeader(http.StatusNoContent)
	return true
}
