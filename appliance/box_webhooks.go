package appliance

import (
	"context"
	"time"

	"parley/appliance/config"
	"parley/appliance/contract"
	"parley/appliance/webhook"
	"parley/store"
)

// WebhookRecord is a webhook as clients and commands are shown it.
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

// TryWebhook sends a receiver a chat_started of a chat that there never was, signed
// with a key, once and under the rules of the box. The error says in plain words
// why it was not delivered.
func TryWebhook(ctx context.Context, cfg config.Config, signingKey, url string) (took time.Duration, err error) {
	begun := time.Now()
	body, err := contract.Marshal(contract.WebhookChatStart{
		WebhookBase: contract.WebhookBase{EventName: contract.WebhookChatStarted, ChatGroupID: contract.NewID(),
			ChatID: contract.NewID()},
		StartTime: begun.UnixMilli(), ChatStartType: contract.NewChatGroup,
	})
	if err != nil {
		return 0, err
	}
	err = webhook.Try(ctx, store.Delivery{
		ID:         contract.NewID(),
		URL:        url,
		Body:       string(body),
		SigningKey: signingKey,
	}, "Parley/"+Version(), cfg.Webhooks.AllowPrivate)
	return time.Since(begun), err
}

// boxWebhooks are api's BoxWebhooks.
type boxWebhooks struct{ cfg config.Config }

func (b boxWebhooks) WebhookRecord(w store.SentWebhook) contract.ReturnWebhook {
	return WebhookRecord(w)
}

func (b boxWebhooks) TryWebhook(ctx context.Context, signingKey, url string) (time.Duration, error) {
	return TryWebhook(ctx, b.cfg, signingKey, url)
}
