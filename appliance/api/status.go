package api

import (
	"fmt"
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// plainHome tells a person without a browser what the box is.
func (a *API) plainHome(w http.ResponseWriter, _ *http.Request, _ caller) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := fmt.Fprintf(w, `Parley %s

This box is a voice service: it listens, thinks and speaks by itself.

  GET /              in a browser: its console; parley console lets you in
  GET /docs          all that it can do, to read; /openapi.json for programs
  GET /v0/evi/chat   a conversation over WebSocket, with ?api_key=KEY
  GET /healthz       200 while the box runs
  GET /readyz        200 when a conversation could start
`, a.Version)
	return err
}

// authority serves the certificate of the authority that the box made for its own
// certificate. It is public; a person compares its fingerprint.
func (a *API) authority(w http.ResponseWriter, _ *http.Request, _ caller) error {
	if a.Authority == nil {
		return contract.ErrNotFound{What: "authority: this box did not make its certificate itself"}
	}
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Header().Set("Content-Disposition", `attachment; filename="parley-ca.crt"`)
	_, err := w.Write(a.Authority)
	return err
}

// state is whether the box is ready.
type state struct {
	Status  string   `json:"status"`            // ok, or not ready
	Missing []string `json:"missing,omitempty"` // why it is not ready, in words
	Version string   `json:"version,omitempty"` // of Parley, in the answer of /healthz
}

// health answers 200 while the process serves, whatever else works.
func (a *API) health(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return a.result(w, http.StatusOK, state{Status: "ok", Version: a.Version}, nil)
}

// readiness answers whether a chat could start, and if not, why.
func (a *API) readiness(w http.ResponseWriter, r *http.Request, _ caller) error {
	if missing := a.Ready.Missing(r.Context()); len(missing) > 0 {
		w.Header().Set("Retry-After", "1") // engines warm up in seconds
		return a.result(w, http.StatusServiceUnavailable, state{Status: "not ready", Missing: missing}, nil)
	}
	return a.result(w, http.StatusOK, state{Status: "ok"}, nil)
}

// aboutBox describes the routes of the box itself.
func aboutBox() descriptions {
	all := inSection("The box", descriptions{
		"GET /{$}": {
			ID:          "about",
			Summary:     "What this box is, as text",
			Description: "A browser (Accept: text/html) gets the console.",
			Answers: []describe.Answer{
				{Status: 200, Media: "text/plain", Also: []string{"text/html"}},
				unchanged(),
			},
		},
		"GET /healthz": {
			ID:      "health",
			Summary: "Whether the box runs",
			Answers: ok(state{}),
		},
		"GET /readyz": {
			ID:      "ready",
			Summary: "Whether a chat could start",
			Answers: append(ok(state{}),
				describe.Answer{Status: 503, Description: "Not ready; missing has the reasons", Value: state{}}),
		},
		"GET /metrics": {
			ID:          "metrics",
			Summary:     "Metrics of the box, for Prometheus",
			Description: "They contain nothing that was said.",
			Answers:     ofType("text/plain"),
		},
	})
	all["GET /ca.crt"] = describe.Operation{
		ID:      "authority",
		Section: "Access",
		Summary: "The certificate authority of this box",
		Description: "Clients must trust it if the box made its own certificate. Compare its fingerprint with the " +
			"one that the box prints at its start.",
		Answers: ofType("application/x-x509-ca-cert"),
		Errors:  []int{404},
	}
	return all
}
