package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/store"
)

// Acts returns a page of what happened on the boxes, newest first.
func (h *Hub) Acts(ctx context.Context, box, kind string, page store.Page) (contract.ReturnPagedFleetActs, error) {
	facts, total, err := h.Records.HubFacts(ctx, box, kind, page)
	answer := contract.ReturnPagedFleetActs{
		Paging: contract.Paging{
			PageNumber: page.Number,
			PageSize:   page.Size,
			TotalPages: (total + page.Size - 1) / page.Size,
		},
		ActsPage: make([]contract.ReturnFleetAct, len(facts)),
	}
	for i, f := range facts {
		answer.ActsPage[i] = actRecord(f)
	}
	return answer, err
}

// actRecord returns a fact in words. What a box sent may be of a newer version, so what cannot be read is shown as it
// is.
func actRecord(f store.ListedHubFact) contract.ReturnFleetAct {
	r := contract.ReturnFleetAct{ID: f.Num, Box: f.Box, On: f.AtMS, Kind: f.Kind, Text: string(f.Body)}
	switch f.Kind {
	case store.HubAct:
		var act contract.ReturnAct
		if err := json.Unmarshal(f.Body, &act); err == nil {
			r.Act, r.Text = &act, act.Text
		}
	case store.HubWebhook:
		var w fleet.Webhook
		if err := json.Unmarshal(f.Body, &w); err == nil {
			r.Text = webhookText(w)
		}
	case store.HubDropped:
		var d fleet.Dropped
		if err := json.Unmarshal(f.Body, &d); err == nil {
			r.Text = droppedText(d)
		}
	case store.HubRejected:
		var why struct{ What, Why string }
		if err := json.Unmarshal(f.Body, &why); err == nil {
			r.Text = "not stored: " + why.What + ": " + why.Why
		}
	}
	return r
}

func webhookText(w fleet.Webhook) string {
	if w.Delivered {
		return fmt.Sprintf("webhook %s delivered to %s after %d attempts", w.Event, w.Host, w.Attempts)
	}
	return fmt.Sprintf("webhook %s to %s given up after %d attempts: %s", w.Event, w.Host, w.Attempts, w.Error)
}

func droppedText(d fleet.Dropped) string {
	var parts []string
	for _, one := range []struct {
		n    int64
		what string
	}{{d.Chats, "chats"}, {d.Act, "acts"}, {d.Webhook, "webhooks"}, {d.Health, "minutes of health"}} {
		if one.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	return "the box dropped, before the hub had them: " + strings.Join(parts, ", ")
}
