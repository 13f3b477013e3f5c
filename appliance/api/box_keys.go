package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

func aboutKeys() descriptions {
	list := append(pageQuery(),
		parameter("account", "Only keys of the account with this name.", describe.String()),
		parameter("search", "Only keys whose id, label, account or last characters contain this.",
			describe.String()),
		parameter("revoked", "Whether to include revoked keys.", describe.Boolean().WithDefault(true)))
	last := parameter("last", "Revoke the key even if it is the last operator's key without an expiry.",
		describe.Boolean().WithDefault(false))
	return inSection("Keys of the box", descriptions{
		"GET /v0/box/keys": {
			ID:          "listKeys",
			Summary:     "List the keys of all accounts",
			Query:       list,
			Description: "Newest first. The box does not store the keys themselves.",
			Answers:     ok(contract.ReturnPagedKeys{}),
			Errors:      []int{404},
		},
		"POST /v0/box/keys": {
			ID:          "makeKey",
			Summary:     "Create a key",
			Description: "Only this answer contains the key and its secret.",
			Body:        "PostedKey",
			Example:     `{"account":"museum","label":"lobby","role":"client","expires_in":86400}`,
			Answers:     created(contract.MadeKey{}),
		},
		"DELETE /v0/box/keys/{id}": {
			ID:      "revokeKey",
			Summary: "Revoke a key for good",
			Description: "Revokes its tokens too, and closes the sockets opened with it. The last operator's key " +
				"cannot be revoked without last=true: after that, only parley on the machine itself can create an " +
				"operator's key.",
			Query:   []describe.Parameter{last},
			Answers: ok(confirmation{}),
			Errors:  []int{409},
		},
		"POST /v0/box/keys/{id}/regenerate": {
			ID:          "regenerateKey",
			Summary:     "Replace the secrets of a key",
			Description: "The old ones become invalid at once. Only this answer contains the new ones.",
			Answers:     ok(contract.MadeKey{}),
			Errors:      []int{409},
		},
		"GET /v0/box/signing-keys/{name}": {
			ID:      "getSigningKey",
			Summary: "Get the key that signs an account's webhooks",
			Answers: ok(contract.ReturnSigningKey{}),
		},
		"POST /v0/box/signing-keys/{name}": {
			ID:          "makeSigningKey",
			Summary:     "Replace the key that signs an account's webhooks",
			Description: "The old key is replaced at once, so the receivers need the new one.",
			Answers:     ok(contract.ReturnSigningKey{}),
		},
	})
}

func (a *API) listKeys(w http.ResponseWriter, r *http.Request, _ caller) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	revoked, err := readFlag(q, "revoked", true)
	if err != nil {
		return err
	}
	owner, err := a.accountID(r, q.Get("account"))
	if err != nil {
		return err
	}
	all, err := a.Records.ListKeys(r.Context(), owner)
	if err != nil {
		return err
	}
	matches := searchFilter(q.Get("search"))
	all = slices.DeleteFunc(all, func(k store.Key) bool {
		return !revoked && k.RevokedMS != 0 || !matches(k.ID, k.Label, k.Account, k.Hint)
	})
	slices.Reverse(all)
	answer := contract.ReturnPagedKeys{Paging: paging(page, len(all)), KeysPage: []contract.ReturnKey{}}
	for _, k := range pageOf(all, page.Number, page.Size) {
		answer.KeysPage = append(answer.KeysPage, contract.ReturnKey{
			KeyID:      k.ID,
			Account:    k.Account,
			Label:      k.Label,
			Role:       string(k.Role),
			Hint:       k.Hint,
			Kiosk:      k.Kiosk != nil,
			CreatedOn:  k.CreatedMS,
			LastUsedOn: k.UsedMS,
			RevokedOn:  k.RevokedMS,
			ExpiresOn:  k.ExpiresMS,
		})
	}
	return a.result(w, http.StatusOK, answer, nil)
}

// searchFilter returns a function that reports whether one of several texts
// contains search, ignoring case.
func searchFilter(search string) func(texts ...string) bool {
	search = strings.ToLower(strings.TrimSpace(search))
	return func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(strings.ToLower(text), search)
		})
	}
}

// account returns the account with a name.
func (a *API) account(r *http.Request, name string) (store.Account, error) {
	found, err := a.Records.Account(r.Context(), name)
	return found, notFound(err, "account", name)
}

func (a *API) makeKey(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedKey) error {
	key := store.NewKey{Account: posted.Account, Label: posted.Label, Role: store.KeyRole(posted.Role)}
	if posted.ExpiresIn > 0 {
		key.ExpiresMS = a.now().UnixMilli() + int64(posted.ExpiresIn)*1000
	}
	credentials, err := a.Records.CreateKey(r.Context(), key)
	return a.result(w, http.StatusCreated, keyRecord(credentials, posted.Account), err)
}

func keyRecord(c store.Credentials, account string) contract.MadeKey {
	return contract.MadeKey{
		KeyID:             c.KeyID,
		Account:           account,
		Role:              string(c.Role),
		APIKey:            c.APIKey,
		SecretKey:         c.SecretKey,
		WebhookSigningKey: c.WebhookSigningKey,
		ExpiresOn:         c.ExpiresMS,
	}
}

// validKey is what a 404 says is missing when the key was revoked.
const validKey = "key that is good"

func (a *API) revokeKey(w http.ResponseWriter, r *http.Request, _ caller) error {
	last, err := readFlag(r.URL.Query(), "last", false)
	if err != nil {
		return err
	}
	revoke := a.Records.RevokeKeyUnlessLast
	if last {
		revoke = a.Records.RevokeKey
	}
	id := r.PathValue("id")
	err = revoke(r.Context(), id)
	if errors.Is(err, store.ErrLastOperator) {
		return contract.ErrConflict{Why: "this is the last operator's key without an expiry; create another one " +
			"first, or send last=true: then only parley keys create on the machine itself makes a new one"}
	}
	return a.result(w, http.StatusOK, confirmation{"The key is revoked."}, notFound(err, validKey, id))
}

func (a *API) regenerateKey(w http.ResponseWriter, r *http.Request, _ caller) error {
	id := r.PathValue("id")
	all, err := a.Records.ListKeys(r.Context(), "")
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(k store.Key) bool { return k.ID == id })
	if i < 0 {
		return notFound(store.ErrNotFound, validKey, id)
	}
	if all[i].Kiosk != nil {
		return contract.ErrConflict{Why: fmt.Sprintf("it is the key of the screen %q, which cannot receive a new "+
			"one; revoke it, and pair the screen again", cmp.Or(all[i].Label, id))}
	}
	credentials, err := a.Records.RegenerateKey(r.Context(), id)
	return a.result(w, http.StatusOK, keyRecord(credentials, all[i].Account), notFound(err, validKey, id))
}

func (a *API) signingKey(w http.ResponseWriter, r *http.Request, _ caller) error {
	account, err := a.account(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	key, err := a.Records.SigningKey(r.Context(), account.ID)
	return a.result(w, http.StatusOK, contract.ReturnSigningKey{Account: account.Name, WebhookSigningKey: key}, err)
}

func (a *API) newSigningKey(w http.ResponseWriter, r *http.Request, _ caller) error {
	account, err := a.account(r, r.PathValue("name"))
	if err != nil {
		return err
	}
	key, err := a.Records.NewSigningKey(r.Context(), account.ID)
	return a.result(w, http.StatusOK, contract.ReturnSigningKey{Account: account.Name, WebhookSigningKey: key}, err)
}
