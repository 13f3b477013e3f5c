package api

import (
	"errors"
	"net/http"
	"net/url"

	"parley/appliance/contract"
	"parley/store"
)

// pairKiosk exchanges a pairing code for the key of a screen.
func (a *API) pairKiosk(w http.ResponseWriter, r *http.Request, _ caller, body contract.PostedPairing) error {
	credentials, k, err := a.Keys.Pair(r.Context(), body.Code, a.now())
	if errors.Is(err, store.ErrNotFound) {
		return a.wrongCredential(r, "the code is unknown, was used, or has expired; parley kiosk makes a new one")
	}
	if err != nil {
		return err
	}
	a.recent.remember(credentials.APIKey, "")
	w.Header().Set("Cache-Control", "no-store")
	paired := contract.PairedKiosk{APIKey: credentials.APIKey, KeyID: credentials.KeyID, Name: k.Name}
	return a.result(w, http.StatusCreated, paired, nil)
}

func aboutPairing() descriptions {
	return inSection("Screens", descriptions{
		"POST /v0/box/kiosks": {
			ID:      "pairKiosk",
			Summary: "Pair a screen",
			Description: "The code is printed by parley kiosk and is valid once, for ten minutes. The key opens " +
				"chats with the config of the screen and nothing else, until it is revoked.",
			Body:    "PostedPairing",
			Example: `{"code":"ABCD-2345"}`,
			Answers: created(contract.PairedKiosk{}),
			Errors:  []int{401, 429},
		},
	})
}

// admitKiosk admits the key of a screen to chats, and sets the config of the
// screen in the query.
func admitKiosk(rt route, r *http.Request, by caller) error {
	if !rt.about.Kiosk {
		return contract.ErrForbidden{
			Why: "this is the key of a screen, which opens its conversations and nothing else; send another key"}
	}
	q := url.Values{}
	body := r.URL.Query()
	for _, name := range []string{"verbose_transcription", "fernSdkLanguage", "fernSdkVersion"} {
		if body.Has(name) {
			q[name] = body[name]
		}
	}
	if *by.Kiosk != "" {
		q.Set("config_id", *by.Kiosk)
	}
	r.URL.RawQuery = q.Encode()
	return nil
}
