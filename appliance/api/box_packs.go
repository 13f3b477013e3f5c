package api

import (
	"context"
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

// BoxPacks manages the models and libraries of the box. Its errors are those of
// package contract.
type BoxPacks interface {
	Packs(ctx context.Context) (contract.ReturnPacks, error)
	// PullPack starts to download a pack and returns. One pack is downloaded at a
	// time.
	PullPack(ctx context.Context, name string) (contract.PackPull, error)
	// WatchPull calls send with the progress of the newest download, and with
	// each change, until it ends.
	WatchPull(ctx context.Context, send func(any) error) error
	// CancelPull ends the download and deletes what has arrived.
	CancelPull(ctx context.Context) (contract.PackPull, error)
	RemovePack(ctx context.Context, name string) error
}

func aboutPacks() descriptions {
	return inSection("Packs of the box", descriptions{
		"GET /v0/box/packs": {
			ID:      "listPacks",
			Summary: "List the packs",
			Answers: ok(contract.ReturnPacks{}),
		},
		"POST /v0/box/packs/{name}/pull": {
			ID:      "pullPack",
			Summary: "Download a pack",
			Description: "The download continues after the answer; GET /v0/box/pack-pull/events reports its " +
				"progress. A pack is installed completely or not at all. One pack is downloaded at a time.",
			Answers: []describe.Answer{{
				Status:      202,
				Description: "The download has started",
				Value:       contract.PackPull{},
			}},
			Errors: []int{409},
		},
		"DELETE /v0/box/packs/{name}": {
			ID:          "removePack",
			Summary:     "Remove a pack",
			Description: "A pack that the settings use cannot be removed.",
			Answers:     ok(confirmation{}),
			Errors:      []int{409},
		},
		"GET /v0/box/pack-pull/events": {
			ID:      "watchPackPull",
			Summary: "Follow the newest download",
			Description: "Server-sent events whose data is a PackPull each. The stream ends with the download, and " +
				"is empty if there was none.",
			Answers: ofType("text/event-stream"),
		},
		"DELETE /v0/box/pack-pull": {
			ID:          "cancelPackPull",
			Summary:     "Cancel the download",
			Description: "Deletes what has arrived.",
			Answers:     ok(contract.PackPull{}),
			Errors:      []int{409},
		},
	})
}

// ifPacks answers 503 where the box has no packs.
func (a *API) ifPacks(handle handler) handler {
	return available(func() bool { return a.BoxPacks != nil }, "this box has no packs", handle)
}

func (a *API) listPacks(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.BoxPacks.Packs(r.Context())
	return a.result(w, http.StatusOK, all, err)
}

func (a *API) pullPack(w http.ResponseWriter, r *http.Request, _ caller) error {
	p, err := a.BoxPacks.PullPack(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusAccepted, p, err)
}

func (a *API) watchPull(w http.ResponseWriter, r *http.Request, by caller) error {
	return a.streamEvents(w, r, by, a.BoxPacks.WatchPull)
}

func (a *API) cancelPull(w http.ResponseWriter, r *http.Request, _ caller) error {
	p, err := a.BoxPacks.CancelPull(r.Context())
	return a.result(w, http.StatusOK, p, err)
}

func (a *API) removePack(w http.ResponseWriter, r *http.Request, _ caller) error {
	err := a.BoxPacks.RemovePack(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, confirmation{"The pack is removed."}, err)
}
