package api

import (
	"context"
	"net/http"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// BoxPhone takes calls by telephone and calls out.
type BoxPhone interface {
	Status() contract.Phone
	// Call calls a number, with the id of a config of the account, and returns as soon
	// as the call is under way. The error is a contract.ErrInvalid about the field
	// trunk if that is unknown, and a contract.ErrUnavailable if there is none.
	Call(ctx context.Context, accountID string, posted contract.PostedPhoneCall) (contract.PhoneCall, error)
	// HangUp ends a call; Transfer hands one over, and returns when the person has
	// taken it. The error is a contract.ErrNotFound if there is no such live call, and
	// a contract.ErrConflict with the reason if the call was not handed over and goes
	// on.
	HangUp(id string) error
	Transfer(ctx context.Context, id string, posted contract.PostedPhoneTransfer) error
}

// ifPhone answers 503 where the box has no telephone.
func (a *API) ifPhone(handle handler) handler {
	return available(func() bool { return a.Phone != nil },
		"this box has no telephone: its operator sets one up with phone.listen, phone.trunks and phone.extensions",
		handle)
}

func (a *API) phoneStatus(w http.ResponseWriter, _ *http.Request, _ caller) error {
	return a.result(w, http.StatusOK, a.Phone.Status(), nil)
}

func (a *API) phoneCall(w http.ResponseWriter, r *http.Request, by caller, posted contract.PostedPhoneCall) error {
	account := by.AccountID
	if posted.Account != "" {
		named, err := a.account(r, posted.Account)
		if err != nil {
			return err
		}
		account = named.ID
	}
	var err error
	if posted.ConfigID, err = a.configID(r.Context(), account, posted.ConfigID); err != nil {
		return err
	}
	nameActObject(r, posted.To)
	call, err := a.Phone.Call(r.Context(), account, posted)
	return a.result(w, http.StatusCreated, call, err)
}

// configID returns the id of a config of the account, given its id or its name.
func (a *API) configID(ctx context.Context, accountID, named string) (string, error) {
	ids, err := a.Records.ResourceIDs(ctx, accountID, store.KindConfig, named)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", contract.ErrNotFound{What: "config", ID: named, Field: "config_id"}
	case len(ids) > 1:
		return "", contract.ErrInvalid{Field: "config_id", Why: "several configs have this name; send the id of one"}
	}
	return ids[0], nil
}

func (a *API) hangUpPhone(w http.ResponseWriter, r *http.Request, _ caller) error {
	return noContent(w, a.Phone.HangUp(r.PathValue("id")))
}

func (a *API) transferPhone(w http.ResponseWriter, r *http.Request, _ caller,
	posted contract.PostedPhoneTransfer) error {
	return noContent(w, a.Phone.Transfer(r.Context(), r.PathValue("id"), posted))
}

func aboutPhone() descriptions {
	return inSection("The telephone", descriptions{
		"GET /v0/box/phone": {
			ID:          "phoneStatus",
			Summary:     "Get the state of the telephone",
			Description: "The addresses for SIP, the trunks, the live calls, and the calls that have ended lately.",
			Answers:     ok(contract.Phone{}),
			Errors:      []int{503},
		},
		"POST /v0/box/phone/calls": {
			ID:      "startPhoneCall",
			Summary: "Call a number",
			Description: "The answer comes as soon as the call is under way. The chat begins when somebody answers; " +
				"GET /v0/box/phone has its chat_id then, and tells how the call ends.",
			Body: "PostedPhoneCall",
			Example: `{"trunk":"desk","to":"+493012345","config_id":"Reminder",` +
				`"session_settings":{"variables":{"name":"Ada"}}}`,
			Answers: created(contract.PhoneCall{}),
			Errors:  []int{404, 429, 503},
		},
		"DELETE /v0/box/phone/calls/{id}": {
			ID:      "endPhoneCall",
			Summary: "Hang up",
			Answers: []describe.Answer{{Status: http.StatusNoContent, Description: "Requested"}},
			Errors:  []int{503},
		},
		"POST /v0/box/phone/calls/{id}/transfer": {
			ID:      "transferPhoneCall",
			Summary: "Hand a live call over to a person",
			Description: "The answer comes when the person has taken the call. With attended, the box puts the " +
				"caller on hold, calls the person and says who calls, and joins the two when the person says yes or " +
				"presses 1. Otherwise it asks the trunk to redirect the call. 409 says why the call goes on as before.",
			Body:    "PostedPhoneTransfer",
			Example: `{"to":"201","attended":true,"brief":"A guest asks about a lost umbrella."}`,
			Answers: []describe.Answer{{Status: http.StatusNoContent, Description: "Handed over"}},
			Errors:  []int{409, 503},
		},
	})
}
