package appliance

import (
	"context"
	"log/slog"
	"time"

	"parley/appliance/config"
	"parley/appliance/metrics"
	"parley/appliance/webhook"
	"parley/store"
)

// sendWebhooks sends what is in the outbox, from the start on: what waits from
// before needs no model. The function returned stops it.
func sendWebhooks(cfg config.Config, records *store.Store, figures *metrics.Metrics, log *slog.Logger) (stop func()) {
	var results []string
	for _, r := range webhook.Results() {
		results = append(results, string(r))
	}
	figures.WatchWebhooks(results, func() (waiting, dead int) {
		waiting, dead, err := records.WebhookCounts(context.Background())
		if err != nil {
			log.Warn("cannot count the webhooks", "err", err)
		}
		return waiting, dead
	})
	sender := webhook.Start(webhook.Parts{
		Outbox:       records,
		AllowPrivate: cfg.Webhooks.AllowPrivate,
		Agent:        "Parley/" + Version(),
		Log:          log,
		Observe: func(r webhook.Result, first bool, after time.Duration) {
			figures.Webhook(string(r), first, after)
		},
		Shed: figures.WebhooksShed,
	})
	return sender.Close
}
