package api

import (
	"net/http"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// route is one row of the table below. Its handler returns an error for refuse
// to answer.
type route struct {
	method, path string
	handle       func(w http.ResponseWriter, r *http.Request) error
}

// routes is every way into the box.
func (a *API) routes() []route {
	return []route{
		{"GET", "/{$}", a.about},
		{"GET", "/healthz", a.health},
		{"GET", "/readyz", a.readiness},

		{"GET", "/ca.crt", a.authority},
		{"POST", "/oauth2-cc/token", a.makeToken},
		{"GET", "/v0/evi/chat", a.chat},
	}
}

// withAccount lets in who brings a valid key or, where tokens open the path, a
// valid token.
func (a *API) withAccount(handle func(w http.ResponseWriter, r *http.Request, account string) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		g, err := a.caller(r)
		if err != nil {
			return err
		}
		return handle(w, r, g.AccountID)
	}
}

// register also answers, in JSON, for the methods that a path does not take and
// for the paths that there are not.
func (a *API) register(routes []route) {
	allowed := map[string][]string{}
	for _, rt := range routes {
		a.mux.Handle(rt.method+" "+rt.path, a.answering(rt.handle))
		allowed[rt.path] = append(allowed[rt.path], rt.method)
		if rt.method == http.MethodGet {
			allowed[rt.path] = append(allowed[rt.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		a.mux.Handle(path, a.answering(func(w http.ResponseWriter, r *http.Request) error {
			w.Header().Set("Allow", strings.Join(methods, ", "))
			return contract.ErrMethod{Method: r.Method, Allowed: methods}
		}))
	}
	a.mux.Handle("/", a.answering(func(_ http.ResponseWriter, r *http.Request) error {
		return contract.ErrNotFound{What: "path", ID: r.URL.Path}
	}))
}

func (a *API) answering(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			a.refuse(w, r, err)
		}
	})
}
