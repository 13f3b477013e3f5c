package main

import (
	"context"
	"errors"
	"fmt"

	"parley/firmware/doctor"
	"parley/store"
)

// examineWebhooks looks for webhooks that were given up, or that fail. Where the
// database cannot be asked, another finding says why. The error is only ctx's.
func examineWebhooks(ctx context.Context, data string) ([]doctor.Finding, error) {
	s, err := store.Join(ctx, data)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	waiting, dead, err := s.WebhookCounts(ctx)
	newest, listErr := s.Webhooks(ctx, store.WebhookFilter{States: []store.WebhookState{store.WebhookWasAbandoned}}, 1)
	if errors.Join(err, listErr, s.Close()) != nil {
		return nil, context.Cause(ctx)
	}
	f := doctor.Finding{Part: "webhooks", Health: doctor.Well, What: fmt.Sprintf("%d wait", waiting)}
	if dead > 0 && len(newest) > 0 {
		f.Health, f.What = doctor.Doubt, fmt.Sprintf("%d were given up in the last seven days; the newest: %s", dead, newest[0].LastError)
		f.Mend = "see parley webhooks list --state dead; once the receiver is mended: parley webhooks retry --all"
	}
	return []doctor.Finding{f}, nil
}
