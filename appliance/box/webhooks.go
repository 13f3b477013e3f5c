package box

import (
	"context"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/webhook"
	"parley/internal/version"
	"parley/store"
)

// WebhookRecord returns a webhook as the API and the commands show it.
func WebhookRecord(w store.SentWebhook) contract.ReturnWebhook {
	r := contract.ReturnWebhook{
		ID:        w.ID,
		Account:   w.Account,
		Event:     w.Event,
		ChatID:    w.ChatID,
		URL:       webhook.Redacted(w.URL),
		State:     string(w.State),
		CreatedOn: w.CreatedMS,
		Attempts:  w.Attempts,
		LastOn:    w.LastMS,
		LastError: w.LastError,
		DueOn:     w.DueMS,
	}
	if w.State == store.WebhookWaiting {
		r.UntilOn = w.UntilMS
	}
	return r
}

// TryWebhook sends a receiver one signed chat_started event of an invented chat,
// under the rules of the box. The error says in plain words why delivery failed.
func TryWebhook(ctx context.Context, cfg config.Config, signingKey, url string) (took time.Duration, err error) {
	started := time.Now()
	body, err := contract.Marshal(contract.WebhookChatStart{
		WebhookBase: contract.WebhookBase{
			EventName:   contract.WebhookChatStarted,
			ChatGroupID: contract.NewID(),
			ChatID:      contract.NewID(),
		},
		StartTime:     started.UnixMilli(),
		ChatStartType: contract.NewChatGroup,
	})
	if err != nil {
		return 0, err
	}
	err = webhook.Try(ctx, store.Delivery{
		ID:         contract.NewID(),
		URL:        url,
		Body:       string(body),
		SigningKey: signingKey,
	}, "Parley/"+version.String(), cfg.Webhooks.AllowPrivate)
	return time.Since(started), err
}

// Webhooks implements api.BoxWebhooks.
type Webhooks struct{ Config config.Config }

// WebhookRecord returns a webhook as the API shows it.
func (Webhooks) WebhookRecord(w store.SentWebhook) contract.ReturnWebhook { return WebhookRecord(w) }

// TryWebhook sends a test event; see the function TryWebhook.
func (w Webhooks) TryWebhook(ctx context.Context, signingKey, url string) (time.Duration, error) {
	return TryWebhook(ctx, w.Config, signingKey, url)
}
