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
	return slices.Concat([]route{
		{"GET", "/{$}", a.about},
		{"GET", "/healthz", a.health},
		{"GET", "/readyz", a.readiness},

		{"GET", "/ca.crt", a.authority},
		{"POST", "/oauth2-cc/token", a.makeToken},
		{"GET", "/v0/evi/chat", a.chat},
		{"GET", "/v0/evi/language-models", a.withAccount(a.languageModels)},
	},
		versionedRoutes("/v0/evi/configs", a.configs()),
		versionedRoutes("/v0/evi/prompts", a.prompts()),
		versionedRoutes("/v0/evi/tools", a.tools()),
	)
}

// versionedRoutes are the ways to configs, to prompts and to tools.
func versionedRoutes[R any](path string, v versioned[R]) []route {
	one, version := path+"/{id}", path+"/{id}/version/{version}"
	return []route{
		{"GET", path, v.withAccount(v.list)},
		{"POST", path, v.withAccount(v.create)},
		{"GET", one, v.withAccount(v.versions)},
		{"POST", one, v.withAccount(v.addVersion)},
		{"PATCH", one, v.withAccount(v.rename)},
		{"DELETE", one, v.withAccount(v.delete)},
		{"GET", version, v.withAccount(v.get)},
		{"PATCH", version, v.withAccount(v.describe)},
		{"DELETE", version, v.withAccount(v.deleteVersion)},
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
