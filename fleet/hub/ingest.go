package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/fleet/bus"
	"parley/store"
)

// readFacts stores the facts behind the position up to which all are stored.
func (h *Hub) readFacts(ctx context.Context) error {
	if err := h.Bus.Wait(ctx); err != nil {
		return err
	}
	if err := h.Bus.Prepare(ctx, h.Limits); err != nil {
		return err
	}
	position, err := h.Records.FactsPosition(ctx)
	if err != nil {
		return err
	}
	err = h.Bus.Facts(ctx, bus.Position(position), h.storeAll)
	var rewound bus.ErrRewound
	if !errors.As(err, &rewound) {
		return err
	}
	h.Log.Warn("the server has another stream of facts than before: the hub reads it from its beginning, and sends "+
		"again what boxes are to run", "err", err)
	if err := h.Records.ForgetFactsPosition(ctx); err != nil {
		return err
	}
	h.sendAgain()
	return nil
}

// storeAll stores messages. Those of one box are stored in order, those of several boxes together, so that they wait
// for the disk once.
func (h *Hub) storeAll(ctx context.Context, messages []bus.Received) error {
	if len(messages) == 0 {
		return nil
	}
	byBox := map[string][]bus.Received{}
	for _, m := range messages {
		byBox[m.Box] = append(byBox[m.Box], m)
	}
	var wait sync.WaitGroup
	failed := make(chan error, len(byBox))
	for box, all := range byBox {
		wait.Go(func() {
			for _, m := range all {
				if err := h.storeMessage(ctx, box, m); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wait.Wait()
	select {
	case err := <-failed:
		return err
	default:
	}
	last := messages[len(messages)-1]
	return h.Records.SetFactsPosition(ctx, store.FactsPosition{Seq: last.Seq, ID: last.ID})
}

func (h *Hub) storeMessage(ctx context.Context, box string, m bus.Received) error {
	facts := make([]store.HubFact, 0, len(m.Facts.Facts))
	for _, f := range m.Facts.Facts {
		one, err := storedFact(f)
		if err != nil {
			h.Log.Warn("a box sent a fact that cannot be stored", "box", box, "err", err)
			one = rejected(f.AtMS, err)
		}
		facts = append(facts, one)
	}
	stored, err := h.Records.StoreFacts(ctx, box, m.Seq, facts)
	if errors.Is(err, store.ErrNotFound) {
		if err = h.know(ctx, box); err == nil {
			stored, err = h.Records.StoreFacts(ctx, box, m.Seq, facts)
		}
	}
	if err != nil {
		return fmt.Errorf("facts of box %s: %w", box, err)
	}
	if stored {
		h.rate.add(h.now(), len(facts))
	}
	return nil
}

// know adds a box that has valid credentials and is not in the database, which was restored from an older backup.
func (h *Hub) know(ctx context.Context, box string) error {
	if err := fleet.CheckName(box); err != nil {
		return err
	}
	added, err := h.Records.KnowHubBox(ctx, box, h.now().UnixMilli())
	if err != nil || !added {
		return err
	}
	h.Log.Warn("a box has credentials of this hub and was not in its database; it is listed again, without groups",
		"box", box)
	return h.loadBoxes(ctx)
}

func rejected(atMS int64, why error) store.HubFact {
	body, _ := json.Marshal(map[string]string{"what": "a fact", "why": why.Error()}) // strings always encode
	return store.HubFact{AtMS: atMS, Other: &store.HubNote{Kind: store.HubRejected, Body: body}}
}

// storedFact returns a fact as the database takes it. A box may be broken or in the wrong hands, so all is checked.
func storedFact(f fleet.Fact) (store.HubFact, error) {
	one := store.HubFact{AtMS: f.AtMS}
	note := func(kind, key string, v any) error {
		body, err := json.Marshal(v)
		one.Other = &store.HubNote{Kind: kind, Key: key, Body: body}
		return err
	}
	switch {
	case f.Chat != nil:
		chat, err := storedChat(*f.Chat)
		one.Chat = &chat
		return one, err
	case f.Deleted != nil:
		one.DeletedChat, one.DeletedGroup = f.Deleted.ChatID, f.Deleted.GroupID
		if one.DeletedChat != "" {
			one.DeletedGroup = ""
		}
		return one, nil
	case f.Act != nil:
		var act contract.ReturnAct
		if err := json.Unmarshal(f.Act, &act); err != nil {
			return one, fmt.Errorf("an act: %w", err)
		}
		if act.ID < 1 {
			return one, fmt.Errorf("an act: its id is %d; the ids of acts begin at 1", act.ID)
		}
		return one, note(store.HubAct, fmt.Sprint(act.ID, "@", act.CreatedOn), f.Act)
	case f.Webhook != nil:
		return one, note(store.HubWebhook, fmt.Sprint(f.Webhook.ID, "@", f.Webhook.Attempts), f.Webhook)
	case f.Dropped != nil:
		return one, note(store.HubDropped, "", f.Dropped)
	case f.Health != nil:
		body, err := json.Marshal(f.Health)
		one.Health = body
		return one, err
	}
	return one, errors.New("it says nothing that this version of the hub knows")
}

func storedChat(c fleet.Chat) (store.HubChat, error) {
	chat := store.HubChat{
		Account: c.Account,
		Chat: store.Chat{
			ID:              c.ID,
			GroupID:         c.GroupID,
			Config:          store.ConfigRef{ID: c.ConfigID, Version: c.ConfigVersion},
			Status:          store.Status(c.Status),
			StartedMS:       c.StartedMS,
			EndedMS:         c.EndedMS,
			RequestID:       c.RequestID,
			CustomSessionID: c.CustomSessionID,
			Metadata:        string(c.Metadata),
			EventCount:      c.EventCount,
		},
	}
	if err := checkChat(c); err != nil {
		return chat, fmt.Errorf("chat %.60q: %w", c.ID, err)
	}
	var last int64
	for _, e := range c.Events {
		if e.Seq <= last || e.ID == "" || e.Type == "" || e.Role == "" {
			return chat, fmt.Errorf("chat %s: event %d after %d has a place, id, type or role that is not allowed",
				c.ID, e.Seq, last)
		}
		last = e.Seq
		chat.Events = append(chat.Events, store.Event{
			Seq:             e.Seq,
			ID:              e.ID,
			AtMS:            e.AtMS,
			Type:            store.EventType(e.Type),
			Role:            store.Role(e.Role),
			MessageText:     e.MessageText,
			EmotionFeatures: string(e.EmotionFeatures),
			Metadata:        string(e.Metadata),
			RelatedEventID:  e.RelatedEventID,
		})
	}
	return chat, nil
}

func checkChat(c fleet.Chat) error {
	if uuid.Validate(c.ID) != nil || uuid.Validate(c.GroupID) != nil {
		return errors.New("its id and the id of its group must be UUIDs")
	}
	if err := contract.CheckAccountName(c.Account); err != nil {
		return err
	}
	if c.StartedMS < 0 || c.StartedMS > store.MaxImportedMS {
		return fmt.Errorf("it began at %d ms; 0 to %d are allowed", c.StartedMS, int64(store.MaxImportedMS))
	}
	switch store.Status(c.Status) {
	case store.Active, store.UserEnded, store.UserTimeout, store.MaxDurationTimeout, store.InactivityTimeout,
		store.Failed:
	default:
		return fmt.Errorf("its status %.40q is unknown", c.Status)
	}
	if (c.Status == string(store.Active)) != (c.EndedMS == 0) {
		return fmt.Errorf("its status is %s and its end %d", c.Status, c.EndedMS)
	}
	return nil
}

// rateSeconds is over how long the rate of facts is counted.
const rateSeconds = 60

// rate counts facts by seconds.
type rate struct {
	mu     sync.Mutex
	second [rateSeconds]int64 // Unix seconds, by their rest
	count  [rateSeconds]int
}

func (r *rate) add(at time.Time, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	second := at.Unix()
	i := second % rateSeconds
	if r.second[i] != second {
		r.second[i], r.count[i] = second, 0
	}
	r.count[i] += n
}

// perSecond returns the mean of the last minute.
func (r *rate) perSecond(at time.Time) float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := 0
	for i, second := range r.second {
		if at.Unix()-second < rateSeconds {
			all += r.count[i]
		}
	}
	return float64(all) / rateSeconds
}
