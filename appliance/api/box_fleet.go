package api

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// Fleet is the hub of a fleet of boxes. Its errors are those of package contract.
type Fleet interface {
	Fleet(ctx context.Context) (contract.ReturnFleet, error)
	FleetBoxes(ctx context.Context) (contract.ReturnFleetBoxes, error)
	FleetBox(ctx context.Context, name string) (contract.ReturnFleetBox, error)
	// AddBox adds a box, or one that was removed again.
	AddBox(ctx context.Context, posted contract.PostedFleetBox) (contract.AddedFleetBox, error)
	SetBoxGroups(ctx context.Context, name string, groups []string) (contract.ReturnFleetBox, error)
	RemoveBox(ctx context.Context, name string) error
	// JoinBox makes new credentials for a box and revokes the old ones.
	JoinBox(ctx context.Context, name string) (contract.AddedFleetBox, error)
	// BoxHealth returns the states of a box in a period, at most so many, evenly chosen.
	BoxHealth(ctx context.Context, name string, sinceMS, untilMS int64, most int) (contract.ReturnFleetHealth, error)
	// BoxItems returns what a box is to run.
	BoxItems(ctx context.Context, name string) (contract.ReturnFleetBoxItems, error)
	// Acts returns a page of what happened on the boxes. An empty box or kind restricts nothing.
	Acts(ctx context.Context, box, kind string, page store.Page) (contract.ReturnPagedFleetActs, error)

	Items(ctx context.Context) (contract.ReturnFleetItems, error)
	// Rollouts returns a page of roll-outs, newest first. An empty box restricts nothing.
	Rollouts(ctx context.Context, box string, page store.Page) (contract.ReturnPagedRollouts, error)
	Rollout(ctx context.Context, id int64) (contract.ReturnRollout, error)
	// BeginRollout begins a roll-out of what the account with the id has, unless the item names another account.
	BeginRollout(ctx context.Context, accountID string, posted contract.PostedRollout) (contract.ReturnRollout, error)
	StopRollout(ctx context.Context, id int64) (contract.ReturnRollout, error)
	ContinueRollout(ctx context.Context, id int64) (contract.ReturnRollout, error)
}

const (
	// healthDefault is how much of a box's health is answered if the query has no since.
	healthDefault = 24 * time.Hour
	// maxHealthStates is more than the hub has of a box: a week by minutes, and 90 days by hours.
	maxHealthStates = 20_000
)

func aboutFleet() descriptions {
	one := []int{404}
	return inSection("A hub and its boxes", descriptions{
		"GET /v0/box/fleet": {
			ID:          "getFleet",
			Summary:     "Get the state of the hub",
			Description: "These routes answer 404 on a box that is no hub.",
			Answers:     ok(contract.ReturnFleet{}),
			Errors:      one,
		},
		"GET /v0/box/fleet/boxes": {
			ID:      "listFleetBoxes",
			Summary: "List the boxes of the hub",
			Answers: ok(contract.ReturnFleetBoxes{}),
			Errors:  one,
		},
		"POST /v0/box/fleet/boxes": {
			ID:      "addFleetBox",
			Summary: "Add a box",
			Description: "Only this answer contains the text of the file with which the box joins: the box's setting " +
				"fleet.join names that file. A box that was removed is added again under its name, with its chats.",
			Body:    "PostedFleetBox",
			Example: `{"name":"museum-3","groups":["museum"]}`,
			Answers: created(contract.AddedFleetBox{}),
			Errors:  []int{404, 409},
		},
		"GET /v0/box/fleet/boxes/{name}": {
			ID:      "getFleetBox",
			Summary: "Get a box of the hub",
			Answers: ok(contract.ReturnFleetBox{}),
			Errors:  one,
		},
		"PATCH /v0/box/fleet/boxes/{name}": {
			ID:          "changeFleetBox",
			Summary:     "Change the groups of a box",
			Description: "What is rolled out to its new groups goes to the box at once.",
			Body:        "PostedFleetGroups",
			Example:     `{"groups":["museum","lobby"]}`,
			Answers:     ok(contract.ReturnFleetBox{}),
			Errors:      one,
		},
		"DELETE /v0/box/fleet/boxes/{name}": {
			ID:      "removeFleetBox",
			Summary: "Remove a box",
			Description: "Revokes its credentials and closes its connection. What it sent before stays, and the box " +
				"goes on with what it runs.",
			Answers: ok(confirmation{}),
			Errors:  one,
		},
		"POST /v0/box/fleet/boxes/{name}/join": {
			ID:          "joinFleetBox",
			Summary:     "Make new credentials for a box",
			Description: "The old ones are revoked. Only this answer contains the text of the new file.",
			Answers:     created(contract.AddedFleetBox{}),
			Errors:      one,
		},
		"GET /v0/box/fleet/boxes/{name}/items": {
			ID:          "listFleetBoxItems",
			Summary:     "List what a box is to run",
			Description: "Each item with the roll-out that brings it, and whether the box runs it.",
			Answers:     ok(contract.ReturnFleetBoxItems{}),
			Errors:      one,
		},
		"GET /v0/box/fleet/boxes/{name}/health": {
			ID:          "getFleetBoxHealth",
			Summary:     "Get the history of a box's health",
			Description: "A state a minute for a week, and one an hour for 90 days. Without since, of the last day.",
			Query: []describe.Parameter{
				moment("since", "Only states at or after this time:"),
				moment("until", "Only states before this time:"),
				parameter("limit", "At most so many states, evenly chosen.",
					describe.Integer(1, maxHealthStates).WithDefault(maxHealthStates)),
			},
			Answers: ok(contract.ReturnFleetHealth{}),
			Errors:  one,
		},
		"GET /v0/box/fleet/acts": {
			ID:          "listFleetActs",
			Summary:     "Read what happened on the boxes",
			Description: "Administrative acts, webhooks, and facts that the hub will never get. Newest first.",
			Query: append(pageQuery(),
				parameter("box", "Only of this box.", describe.String()),
				parameter("kind", "Only of this kind.", describe.Enum(store.HubFactKinds()...))),
			Answers: ok(contract.ReturnPagedFleetActs{}),
			Errors:  one,
		},
	})
}

// ifHub answers 404 where the box is no hub.
func (a *API) ifHub(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request, by caller) error {
		if a.Fleet == nil {
			return contract.ErrNotFound{What: "hub", Hint: "this box is none: parley hub starts one"}
		}
		return handle(w, r, by)
	}
}

func (a *API) fleet(w http.ResponseWriter, r *http.Request, _ caller) error {
	f, err := a.Fleet.Fleet(r.Context())
	return a.result(w, http.StatusOK, f, err)
}

func (a *API) listFleetBoxes(w http.ResponseWriter, r *http.Request, _ caller) error {
	all, err := a.Fleet.FleetBoxes(r.Context())
	return a.result(w, http.StatusOK, all, err)
}

func (a *API) getFleetBox(w http.ResponseWriter, r *http.Request, _ caller) error {
	one, err := a.Fleet.FleetBox(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, one, err)
}

func (a *API) addFleetBox(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedFleetBox) error {
	nameActObject(r, posted.Name)
	added, err := a.Fleet.AddBox(r.Context(), posted)
	return a.result(w, http.StatusCreated, added, err)
}

func (a *API) changeFleetBox(w http.ResponseWriter, r *http.Request, _ caller,
	posted contract.PostedFleetGroups) error {
	one, err := a.Fleet.SetBoxGroups(r.Context(), r.PathValue("name"), posted.Groups)
	return a.result(w, http.StatusOK, one, err)
}

func (a *API) removeFleetBox(w http.ResponseWriter, r *http.Request, _ caller) error {
	err := a.Fleet.RemoveBox(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, confirmation{"The box is removed."}, err)
}

func (a *API) joinFleetBox(w http.ResponseWriter, r *http.Request, _ caller) error {
	joined, err := a.Fleet.JoinBox(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusCreated, joined, err)
}

func (a *API) fleetBoxHealth(w http.ResponseWriter, r *http.Request, _ caller) error {
	since, until, err := readPeriod(r.URL.Query(), a.now().Add(-healthDefault))
	if err != nil {
		return err
	}
	most, err := readNumber(r.URL.Query(), "limit", maxHealthStates, 1, maxHealthStates)
	if err != nil {
		return err
	}
	history, err := a.Fleet.BoxHealth(r.Context(), r.PathValue("name"), since, until, most)
	return a.result(w, http.StatusOK, history, err)
}

func (a *API) listFleetBoxItems(w http.ResponseWriter, r *http.Request, _ caller) error {
	items, err := a.Fleet.BoxItems(r.Context(), r.PathValue("name"))
	return a.result(w, http.StatusOK, items, err)
}

// readPeriod parses since and until; without since the period begins at from.
func readPeriod(q url.Values, from time.Time) (since, until int64, err error) {
	if since, err = readMoment(q, "since"); err != nil {
		return 0, 0, err
	}
	if q.Get("since") == "" {
		since = from.UnixMilli()
	}
	until, err = readMoment(q, "until")
	return since, until, err
}

func (a *API) listFleetActs(w http.ResponseWriter, r *http.Request, _ caller) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	kind, err := readChoice(q, "kind", store.HubFactKinds()...)
	if err != nil {
		return err
	}
	acts, err := a.Fleet.Acts(r.Context(), q.Get("box"), kind, page)
	return a.result(w, http.StatusOK, acts, err)
}
