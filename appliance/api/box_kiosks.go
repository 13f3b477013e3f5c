package api

import (
	"errors"
	"net/http"
	"slices"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

func aboutKiosks() descriptions {
	list := append(pageQuery(),
		parameter("search", "Only screens whose name, account or id contains this.", describe.String()),
		parameter("revoked", "Whether to include screens that were unpaired.", describe.Boolean().WithDefault(false)))
	return inSection("Screens", descriptions{
		"POST /v0/box/kiosk-codes": {
			ID:      "makeKioskCode",
			Summary: "Create a code that pairs a screen",
			Description: "It is valid once, for ten minutes. Open /kiosk on the screen and enter it, or open " +
				"/kiosk#CODE.",
			Body:    "PostedKiosk",
			Example: `{"name":"Lobby","account":"museum"}`,
			Answers: created(contract.KioskCode{}),
			Errors:  []int{404},
		},
		"GET /v0/box/kiosks": {
			ID:          "listKiosks",
			Summary:     "List the paired screens",
			Query:       list,
			Description: "Newest first.",
			Answers:     ok(contract.ReturnPagedKiosks{}),
		},
		"DELETE /v0/box/kiosks/{id}": {
			ID:          "revokeKiosk",
			Summary:     "Unpair a screen and end its chat",
			Description: "The id is that of its key.",
			Answers:     ok(confirmation{}),
		},
	})
}

func (a *API) makeKioskCode(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedKiosk) error {
	if posted.ConfigID != "" {
		account, err := a.account(r, posted.Account)
		if err != nil {
			return err
		}
		if _, err := a.Records.ResourceName(r.Context(), account.ID, store.KindConfig, posted.ConfigID); err != nil {
			return err
		}
	}
	at := a.now()
	code, err := a.Records.StartPairing(r.Context(), posted.Account,
		store.Kiosk{Name: posted.Name, ConfigID: posted.ConfigID}, at)
	return a.result(w, http.StatusCreated, contract.KioskCode{
		Code:      code,
		Name:      posted.Name,
		ConfigID:  posted.ConfigID,
		ExpiresOn: at.Add(store.PairingLife).UnixMilli(),
	}, err)
}

func (a *API) listKiosks(w http.ResponseWriter, r *http.Request, _ caller) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	revoked, err := readFlag(q, "revoked", false)
	if err != nil {
		return err
	}
	all, err := a.Records.ListKeys(r.Context(), "")
	if err != nil {
		return err
	}
	matches := searchFilter(q.Get("search"))
	all = slices.DeleteFunc(all, func(k store.Key) bool {
		return k.Kiosk == nil || !revoked && k.RevokedMS != 0 || !matches(k.Label, k.Account, k.ID)
	})
	slices.Reverse(all)
	answer := contract.ReturnPagedKiosks{Paging: paging(page, len(all)), KiosksPage: []contract.ReturnKiosk{}}
	for _, k := range pageOf(all, page.Number, page.Size) {
		screen := contract.ReturnKiosk{
			KeyID:     k.ID,
			Name:      k.Label,
			Account:   k.Account,
			ConfigID:  *k.Kiosk,
			PairedOn:  k.CreatedMS,
			RevokedOn: k.RevokedMS,
		}
		if screen.ConfigID != "" {
			name, err := a.Records.ResourceName(r.Context(), k.AccountID, store.KindConfig, screen.ConfigID)
			if _, gone := errors.AsType[store.ErrMissing](err); err != nil && !gone {
				return err
			}
			screen.ConfigName = name
		}
		answer.KiosksPage = append(answer.KiosksPage, screen)
	}
	return a.result(w, http.StatusOK, answer, nil)
}

func (a *API) revokeKiosk(w http.ResponseWriter, r *http.Request, _ caller) error {
	id := r.PathValue("id")
	all, err := a.Records.ListKeys(r.Context(), "")
	if err != nil {
		return err
	}
	screen := slices.ContainsFunc(all, func(k store.Key) bool {
		return k.ID == id && k.Kiosk != nil && k.RevokedMS == 0
	})
	if screen {
		err = a.Records.RevokeKey(r.Context(), id)
	}
	if !screen || errors.Is(err, store.ErrNotFound) {
		return contract.ErrNotFound{What: "screen that is paired", ID: id}
	}
	return a.result(w, http.StatusOK, confirmation{"The screen is no longer paired."}, err)
}
