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
	WatchPull(ctx context.Context, tell func(any) error) error
	// CancelPull ends the download and deletes what has arrived.
	CancelPull(ctx context.Context) (contract.PackPull, error)
	RemovePack(ctx context.Context, name string) error
}

func aboutPacks() descriptions {
	return inSection("Packs of the box", descriptions{
		"GET /v0/box/packs": {
			ID:      "listPacks",
			Summary: "The packs that there are, and how they stand",
			Answers: ok(contract.ReturnPacks{}),
		},
		"POST /v0/box/packs/{name}/pull": {
			ID:      "pullPack",
			Summary: "Fetch a pack",
			Description: "It goes on when this is answered: GET /v0/box/pack-pull/events tells how far it is. A pack " +
				"is there whole or not at all, and of a pull that fails nothing stays. One is fetched at a time.",
			Answers: []describe.Answer{{Status: 202, Description: "It is begun", Value: contract.PackPull{}}},
			Errors:  []int{409},
		},
		"DELETE /v0/box/packs/{name}": {
			ID:          "removePack",
			Summary:     "Remove a pack",
			Description: "Not one that the settings have the box run on.",
			Answers:     ok(confirmation{}),
			Errors:      []int{409},
		},
		"GET /v0/box/pack-pull/events": {
			ID:      "watchPackPull",
			Summary: "How far the newest pull is, as it goes",
			Description: "Server-sent events: the data of each is a PackPull. The stream ends with the pull; without " +
				"any it is empty.",
			Answers: ofType("text/event-stream"),
		},
		"DELETE /v0/box/pack-pull": {
			ID:          "cancelPackPull",
			Summary:     "End the pull that goes on",
			Description: "What has arrived is dropped.",
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
