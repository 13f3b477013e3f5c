package api

import (
	"context"
	"net/http"

	"parley/appliance/contract"
)

// BoxHealth reports the state of the box.
type BoxHealth interface {
	// Health returns the state now. It is fast.
	Health(ctx context.Context) (contract.ReturnBoxHealth, error)
	// Watch calls send with the state every other second until ctx ends. Each
	// state holds only the answers that are new since the last one.
	Watch(ctx context.Context, send func(any) error) error
	// Diagnose runs the checks of parley doctor, which may take minutes. While it
	// runs, other calls return a contract.ErrConflict.
	Diagnose(ctx context.Context) (contract.ReturnDiagnosis, error)
	// Settings returns the settings in force.
	Settings() contract.ReturnSettings
}

func aboutHealth() descriptions {
	return inSection("Health of the box", descriptions{
		"GET /v0/box/health": {
			ID:      "getBoxHealth",
			Summary: "Get the state of the box",
			Answers: ok(contract.ReturnBoxHealth{}),
		},
		"GET /v0/box/health/events": {
			ID:      "watchBoxHealth",
			Summary: "Follow the state of the box",
			Description: "Server-sent events, one every other second. The data of each is what GET /v0/box/health " +
				"answers.",
			Answers: ofType("text/event-stream"),
		},
		"POST /v0/box/diagnosis": {
			ID:      "diagnoseBox",
			Summary: "Check the box for problems",
			Description: "Runs the checks of parley doctor and changes nothing. It reads the database, the " +
				"recordings and the packs, which may take minutes.",
			Answers: ok(contract.ReturnDiagnosis{}),
			Errors:  []int{409},
		},
		"GET /v0/box/settings": {
			ID:      "getBoxSettings",
			Summary: "List the settings in force",
			Description: "As read when the box started. Change them in parley.yaml, with environment variables or " +
				"with flags, and restart the box.",
			Answers: ok(contract.ReturnSettings{}),
		},
	})
}

// ifHealth answers 503 where no health source is configured.
func (a *API) ifHealth(handle handler) handler {
	return available(func() bool { return a.BoxHealth != nil }, "this box has no health source", handle)
}

func (a *API) boxHealth(w http.ResponseWriter, r *http.Request, _ caller) error {
	h, err := a.BoxHealth.Health(r.Context())
	return a.result(w, http.StatusOK, h, err)
}

func (a *API) watchHealth(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.streamEvents(w, r, by, a.BoxHealth.Watch)
}

func (a *API) diagnose(w http.ResponseWriter, r *http.Request, _ caller) error {
	d, err := a.BoxHealth.Diagnose(r.Context())
	return a.result(w, http.StatusOK, d, err)
}

func (a *API) settings(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return a.result(w, http.StatusOK, a.BoxHealth.Settings(), nil)
}
