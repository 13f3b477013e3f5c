package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// route is a row of the table with its description and its administrative act.
type route struct {
	row
	about describe.Operation
	act   act // its what is empty if the route has none
}

// routes returns the table with the description and the act of each route.
func (a *API) routes() []route {
	about, administrative := allDescriptions(), acts()
	var all []route
	for _, r := range a.table() {
		all = append(all, route{r, about[r.method+" "+r.path], actOf(administrative, r)})
	}
	return all
}

func (rt route) isSocket() bool { return rt.about.Socket != nil }

// keyInQuery reports whether the query may hold the key or the token. It may for
// sockets, because browsers let pages set no headers for them, and for calls,
// which clients open as they open sockets.
func (rt route) keyInQuery() bool {
	return (rt.access == byToken || rt.access == byKey) && (rt.isSocket() || rt.about.Call)
}

// register adds routes to the mux. It also answers OPTIONS for their paths, and
// unknown methods and paths with errors in JSON.
func (a *API) register(routes []route) {
	allowed, takes := map[string][]string{}, map[string]http.Header{}
	accepts := map[string]string{http.MethodPost: "Accept-Post", http.MethodPatch: "Accept-Patch"}
	for _, rt := range routes {
		a.mux.Handle(rt.method+" "+rt.path, a.enforce(rt))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
		if header := accepts[rt.method]; header != "" && strings.Contains(rt.about.Upload, "/") {
			if takes[rt.path] == nil {
				takes[rt.path] = http.Header{}
			}
			takes[rt.path].Set(header, strings.TrimSuffix(rt.about.Upload+", "+rt.about.OtherUpload, ", "))
		}
		if rt.method == http.MethodGet {
			allowed[rt.path] = append(allowed[rt.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		a.mux.Handle(path, a.withErrors(func(w http.ResponseWriter, r *http.Request) error {
			if err := a.rates.allowAddress(r, false); err != nil {
				return err
			}
			w.Header().Set("Allow", strings.Join(methods, ", "))
			if r.Method == http.MethodOptions { // WHIP clients ask for accepted media (RFC 9725, section 4.2)
				maps.Copy(w.Header(), takes[path])
				w.WriteHeader(http.StatusNoContent)
				return nil
			}
			return contract.ErrMethod{Method: r.Method, Allowed: methods}
		}))
	}
	a.mux.Handle("/", a.withErrors(func(_ http.ResponseWriter, r *http.Request) error {
		return cmp.Or(a.rates.allowAddress(r, false), error(contract.ErrNotFound{What: "path", ID: r.URL.Path}))
	}))
}

// available returns a handler that calls handle, or answers 503 with why if
// exists returns false.
func available(exists func() bool, why string, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, by caller) error {
		if !exists() {
			return contract.ErrUnavailable{Why: why}
		}
		return handle(w, r, by)
	}
}
