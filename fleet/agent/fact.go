package agent

import (
	"encoding/json"
	"fmt"
	"net/url"

	"parley/fleet"
	"parley/store"
)

// factOf returns a fact as the hub gets it.
func factOf(f store.FleetFact) (fleet.Fact, error) {
	fact := fleet.Fact{AtMS: f.AtMS}
	var err error
	switch f.Note {
	case store.FleetAct:
		fact.Act = json.RawMessage(f.Body)
	case store.FleetDeleted:
		err = json.Unmarshal([]byte(f.Body), &fact.Deleted)
	case store.FleetDropped:
		err = json.Unmarshal([]byte(f.Body), &fact.Dropped)
	case store.FleetHealth:
		err = json.Unmarshal([]byte(f.Body), &fact.Health)
	case store.FleetWebhook:
		fact.Webhook, err = webhookOf(f.Body)
	default:
		fact.Chat = chatOf(*f.Chat)
	}
	if err != nil {
		err = fmt.Errorf("a note of the kind %s: %w", f.Note, err)
	}
	return fact, err
}

// webhookOf leaves only the host of the receiver's URL.
func webhookOf(body string) (*fleet.Webhook, error) {
	var w struct {
		fleet.Webhook
		URL string `json:"url"`
	}
	if err := json.Unmarshal([]byte(body), &w); err != nil {
		return nil, err
	}
	if u, err := url.Parse(w.URL); err == nil {
		w.Host = u.Host
	}
	return &w.Webhook, nil
}

func chatOf(c store.FleetChat) *fleet.Chat {
	chat := &fleet.Chat{
		ID:              c.ID,
		GroupID:         c.GroupID,
		Account:         c.Account,
		ConfigID:        c.Config.ID,
		ConfigVersion:   c.Config.Version,
		Status:          string(c.Status),
		StartedMS:       c.StartedMS,
		EndedMS:         c.EndedMS,
		RequestID:       c.RequestID,
		CustomSessionID: c.CustomSessionID,
		Metadata:        raw(c.Metadata),
		EventCount:      c.EventCount,
		Events:          make([]fleet.Event, len(c.Events)),
	}
	for i, e := range c.Events {
		chat.Events[i] = fleet.Event{
			Seq:             e.Seq,
			ID:              e.ID,
			AtMS:            e.AtMS,
			Type:            string(e.Type),
			Role:            string(e.Role),
			MessageText:     e.MessageText,
			EmotionFeatures: raw(e.EmotionFeatures),
			Metadata:        raw(e.Metadata),
			RelatedEventID:  e.RelatedEventID,
		}
	}
	return chat
}

// raw returns a JSON text, nil for none.
func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}
