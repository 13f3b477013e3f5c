package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
)

func aboutRollouts() descriptions {
	return inSection("A hub and its boxes", descriptions{
		"GET /v0/box/fleet/items": {
			ID:          "listFleetItems",
			Summary:     "List what is rolled out",
			Description: "Each item with what its targets are to run of it. Of one item, the narrower target counts.",
			Answers:     ok(contract.ReturnFleetItems{}),
			Errors:      []int{404},
		},
		"GET /v0/box/fleet/rollouts": {
			ID:      "listRollouts",
			Summary: "List the roll-outs",
			Query: append(pageQuery(),
				parameter("box", "Only those whose target has this box.", describe.String())),
			Description: "Newest first.",
			Answers:     ok(contract.ReturnPagedRollouts{}),
			Errors:      []int{404},
		},
		"POST /v0/box/fleet/rollouts": {
			ID:      "beginRollout",
			Summary: "Begin a roll-out",
			Description: "The item goes to the canary boxes first. When all of them run it and soak_minutes have " +
				"passed without a new problem, it goes to the whole target. If a canary cannot run it, it is taken " +
				"back. Without canaries it goes to the whole target at once. A later edit on the hub changes nothing " +
				"on the boxes until it is rolled out too.",
			Body:    "PostedRollout",
			Example: `{"item":{"kind":"config","name":"Guide"},"target":"group:museum","canary":1,"soak_minutes":10}`,
			Answers: created(contract.ReturnRollout{}),
			Errors:  []int{404, 409},
		},
		"GET /v0/box/fleet/rollouts/{id}": {
			ID:      "getRollout",
			Summary: "Get a roll-out with the state of each box",
			Answers: ok(contract.ReturnRollout{}),
			Errors:  []int{404},
		},
		"POST /v0/box/fleet/rollouts/{id}/stop": {
			ID:          "stopRollout",
			Summary:     "Stop a roll-out",
			Description: "Takes it back everywhere it went: those boxes run again what they ran of the item before.",
			Answers:     ok(contract.ReturnRollout{}),
			Errors:      []int{404, 409},
		},
		"POST /v0/box/fleet/rollouts/{id}/continue": {
			ID:          "continueRollout",
			Summary:     "Continue a roll-out before its time",
			Description: "It goes from the canary boxes to the whole target now.",
			Answers:     ok(contract.ReturnRollout{}),
			Errors:      []int{404, 409},
		},
	})
}

func (a *API) listFleetItems(w http.ResponseWriter, r *http.Request, _ caller) error {
	items, err := a.Fleet.Items(r.Context())
	return a.result(w, http.StatusOK, items, err)
}

func (a *API) listRollouts(w http.ResponseWriter, r *http.Request, _ caller) error {
	page, err := readPage(r.URL.Query())
	if err != nil {
		return err
	}
	rollouts, err := a.Fleet.Rollouts(r.Context(), r.URL.Query().Get("box"), page)
	return a.result(w, http.StatusOK, rollouts, err)
}

func (a *API) beginRollout(w http.ResponseWriter, r *http.Request, by caller, posted contract.PostedRollout) error {
	begun, err := a.Fleet.BeginRollout(r.Context(), by.AccountID, posted)
	if err == nil {
		nameActObject(r, string(begun.Item.Kind)+" "+begun.Item.Name+" to "+begun.Target)
	}
	return a.result(w, http.StatusCreated, begun, err)
}

func (a *API) getRollout(w http.ResponseWriter, r *http.Request, _ caller) error {
	id, err := rolloutID(r)
	if err != nil {
		return err
	}
	one, err := a.Fleet.Rollout(r.Context(), id)
	return a.result(w, http.StatusOK, one, err)
}

func (a *API) stopRollout(w http.ResponseWriter, r *http.Request, _ caller) error {
	id, err := rolloutID(r)
	if err != nil {
		return err
	}
	one, err := a.Fleet.StopRollout(r.Context(), id)
	return a.result(w, http.StatusOK, one, err)
}

func (a *API) continueRollout(w http.ResponseWriter, r *http.Request, _ caller) error {
	id, err := rolloutID(r)
	if err != nil {
		return err
	}
	one, err := a.Fleet.ContinueRollout(r.Context(), id)
	return a.result(w, http.StatusOK, one, err)
}

func rolloutID(r *http.Request) (int64, error) {
	text := r.PathValue("id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, contract.ErrNotFound{What: "roll-out", ID: text}
	}
	return id, nil
}

// readChoice parses a word of a query; empty if it is absent.
func readChoice(q url.Values, name string, allowed ...string) (string, error) {
	word := q.Get(name)
	if word != "" && !slices.Contains(allowed, word) {
		return "", contract.ErrInvalid{Field: name,
			Why: fmt.Sprintf("%.80q is not allowed; expected one of %s", word, strings.Join(allowed, ", "))}
	}
	return word, nil
}
