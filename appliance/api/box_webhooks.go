package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/appliance/api/describe"
	"parley/appliance/contract"
	"parley/store"
)

// BoxWebhooks describes and tests webhooks.
type BoxWebhooks interface {
	WebhookRecord(w store.SentWebhook) contract.ReturnWebhook
	// TryWebhook sends a signed example to a receiver, once. The error says in
	// plain words why it was not delivered.
	TryWebhook(ctx context.Context, signingKey, url string) (took time.Duration, err error)
}

func aboutWebhooks() descriptions {
	list := append(pageQuery(),
		parameter("state", "Only webhooks in this state; dead means that the box gave up.",
			describe.Enum(store.WebhookStates()...)),
		parameter("account", "Only webhooks of the account with this name.", describe.String()),
		parameter("chat_id", "Only webhooks of this chat.", describe.String()),
		parameter("search", "Only webhooks whose URL, chat, event or error contains this.", describe.String()))
	return inSection("Webhooks of the box", descriptions{
		"GET /v0/box/webhooks": {
			ID:          "listWebhooks",
			Summary:     "List webhooks",
			Query:       list,
			Description: "Webhooks that wait, that the box gave up on, and those of the last day. Newest first.",
			Answers:     ok(contract.ReturnPagedWebhooks{}),
			Errors:      []int{404},
		},
		"POST /v0/box/webhooks/retry": {
			ID:          "retryWebhooks",
			Summary:     "Retry webhooks",
			Description: "Tries webhooks that wait or were given up on, now and for another day.",
			Body:        "PostedWebhookChoice",
			Example:     `{"all":true}`,
			Answers:     ok(contract.WebhooksChanged{}),
			Errors:      []int{404},
		},
		"POST /v0/box/webhooks/forget": {
			ID:      "forgetWebhooks",
			Summary: "Delete webhooks that were given up on",
			Body:    "PostedWebhookChoice",
			Example: `{"all":true}`,
			Answers: ok(contract.WebhooksChanged{}),
			Errors:  []int{404},
		},
		"POST /v0/box/webhooks/test": {
			ID:      "testWebhook",
			Summary: "Send a signed example to a receiver",
			Description: "Sends a chat_started of a chat that does not exist, once, under the rules of the box. If " +
				"it was not delivered, the answer has an error.",
			Body:    "PostedWebhookTest",
			Example: `{"url":"https://shop.example/hooks/parley","account":"home"}`,
			Answers: ok(contract.WebhookTested{}),
			Errors:  []int{404},
		},
	})
}

func (a *API) listWebhooks(w http.ResponseWriter, r *http.Request, _ caller) error {
	q := r.URL.Query()
	page, err := readPage(q)
	if err != nil {
		return err
	}
	f, err := a.webhookFilter(r, q)
	if err != nil {
		return err
	}
	found, total, err := a.Records.WebhookPage(r.Context(), f, page)
	if err != nil {
		return err
	}
	answer := contract.ReturnPagedWebhooks{Paging: paging(page, total),
		WebhooksPage: make([]contract.ReturnWebhook, len(found))}
	for i, one := range found {
		answer.WebhooksPage[i] = a.BoxWebhooks.WebhookRecord(one)
	}
	if answer.Waiting, answer.Dead, err = a.Records.WebhookCounts(r.Context()); err != nil {
		return err
	}
	return a.result(w, http.StatusOK, answer, nil)
}

func (a *API) webhookFilter(r *http.Request, q url.Values) (f store.WebhookFilter, err error) {
	f.ChatID, f.Search = q.Get("chat_id"), q.Get("search")
	if state := store.WebhookState(q.Get("state")); state != "" {
		if !slices.Contains(store.WebhookStates(), state) {
			return f, contract.ErrInvalid{Field: "state",
				Why: fmt.Sprintf("%.80q is not allowed; expected waiting, delivered or dead", state)}
		}
		f.States = []store.WebhookState{state}
	}
	f.AccountID, err = a.accountID(r, q.Get("account"))
	return f, err
}

// accountID returns the id of the account with a name; empty for an empty name.
func (a *API) accountID(r *http.Request, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	account, err := a.account(r, name)
	return account.ID, err
}

// changeWebhooks calls change with the webhooks that the body selects.
func (a *API) changeWebhooks(w http.ResponseWriter, r *http.Request,
	change func(context.Context, store.WebhookFilter) (int, error)) error {
	posted, err := decode(r, contract.Parse[contract.PostedWebhookChoice])
	if err != nil {
		return err
	}
	f := store.WebhookFilter{IDs: slices.Compact(slices.Sorted(slices.Values(posted.IDs)))}
	if f.AccountID, err = a.accountID(r, posted.Account); err != nil {
		return err
	}
	n, err := change(r.Context(), f)
	return a.result(w, http.StatusOK, contract.WebhooksChanged{Changed: n}, err)
}

func (a *API) retryWebhooks(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.changeWebhooks(w, r, a.Records.RetryWebhooks)
}

func (a *API) forgetWebhooks(w http.ResponseWriter, r *http.Request, _ caller) error {
	return a.changeWebhooks(w, r, a.Records.ForgetWebhooks)
}

func (a *API) testWebhook(w http.ResponseWriter, r *http.Request, _ caller, posted contract.PostedWebhookTest) error {
	account, err := a.account(r, posted.Account)
	if err != nil {
		return err
	}
	key, err := a.Records.SigningKey(r.Context(), account.ID)
	if err != nil {
		return err
	}
	took, err := a.BoxWebhooks.TryWebhook(r.Context(), key, posted.URL)
	result := contract.WebhookTested{Delivered: err == nil, Milliseconds: float64(took.Microseconds()) / 1000}
	if err != nil {
		result.Error = err.Error()
	}
	return a.result(w, http.StatusOK, result, nil)
}
