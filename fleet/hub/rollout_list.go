package hub

import (
	"context"
	"errors"
	"slices"
	"strings"

	"parley/appliance/contract"
	"parley/store"
)

// Rollouts returns a page of roll-outs, newest first.
func (h *Hub) Rollouts(ctx context.Context, box string, page store.Page) (contract.ReturnPagedRollouts, error) {
	rollouts, total, err := h.Records.HubRollouts(ctx, box, page)
	answer := contract.ReturnPagedRollouts{
		Paging: contract.Paging{
			PageNumber: page.Number,
			PageSize:   page.Size,
			TotalPages: (total + page.Size - 1) / page.Size,
		},
		RolloutsPage: make([]contract.ReturnRollout, len(rollouts)),
	}
	if err != nil {
		return answer, err
	}
	for i, r := range rollouts {
		if answer.RolloutsPage[i], err = h.rolloutRecord(ctx, r); err != nil {
			return answer, err
		}
		answer.RolloutsPage[i].Boxes = nil
	}
	return answer, nil
}

// Rollout returns a roll-out with the state of each box.
func (h *Hub) Rollout(ctx context.Context, id int64) (contract.ReturnRollout, error) {
	r, err := h.Records.HubRollout(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return contract.ReturnRollout{}, missingRollout(id)
	}
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	return h.rolloutRecord(ctx, r)
}

func (h *Hub) rolloutRecord(ctx context.Context, r store.HubRollout) (contract.ReturnRollout, error) {
	record := contract.ReturnRollout{
		ID:          r.ID,
		Item:        itemRecord(r),
		Version:     numberOf(r),
		Content:     r.Content,
		Remove:      r.Removes,
		Target:      r.Target,
		Canary:      append([]string{}, r.Canary...),
		SoakMinutes: int(r.SoakMS / 60_000),
		State:       r.State,
		Why:         r.Why,
		CreatedOn:   r.CreatedMS,
		ChangedOn:   r.ChangedMS,
		SoakedFrom:  r.SoakFrom,
	}
	if r.State == stopped || r.State == failed {
		return record, nil
	}
	var err error
	if record.Boxes, err = h.boxesOf(ctx, r); err != nil {
		return record, err
	}
	for _, b := range record.Boxes {
		switch b.State {
		case boxRunning:
			record.Running++
		case boxWaiting:
			record.Waiting++
		case boxFailed:
			record.Failed++
		}
	}
	return record, nil
}

func itemRecord(r store.HubRollout) contract.FleetItem {
	item := contract.FleetItem{Kind: contract.FleetItemKind(r.Kind), ID: r.Item, Name: r.Name, Account: r.Account}
	if r.Account == "" || r.Item == "" { // the name of a plugin or a setting tells it from others
		item.ID = ""
	}
	return item
}

func numberOf(r store.HubRollout) *int {
	if r.Version < 0 {
		return nil
	}
	return &r.Version
}

// boxesOf returns how far each box of a roll-out's target is, by name.
func (h *Hub) boxesOf(ctx context.Context, r store.HubRollout) ([]contract.RolloutBox, error) {
	revisions, err := h.Records.HubRolloutRevisions(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	now := h.now()
	boxes := []contract.RolloutBox{}
	replaced := map[string]bool{}
	for _, b := range h.boxes {
		if !reaches(r.Target, b.name, b.groups) {
			continue
		}
		counts, planned := h.current[b.name].rollouts[keyOf(r)]
		replaced[b.name] = planned && counts != r.ID && (r.State != canary || slices.Contains(r.Canary, b.name))
		boxes = append(boxes, contract.RolloutBox{
			Box:    b.name,
			Online: b.online(now),
			Canary: slices.Contains(r.Canary, b.name),
		})
	}
	h.mu.Unlock()
	slices.SortFunc(boxes, func(a, b contract.RolloutBox) int { return strings.Compare(a.Box, b.Box) })
	for i := range boxes {
		b := &boxes[i]
		if b.State, b.Why = h.howFar(b.Box, revisions[b.Box]); revisions[b.Box] == 0 && replaced[b.Box] {
			b.State, b.Why = boxReplaced, ""
		}
	}
	return boxes, nil
}

// Items returns what is rolled out, with what each target is to run of it.
func (h *Hub) Items(ctx context.Context) (contract.ReturnFleetItems, error) {
	answer := contract.ReturnFleetItems{Items: []contract.ReturnFleetItem{}}
	all, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return answer, err
	}
	slices.SortStableFunc(all, func(a, b store.HubRollout) int {
		if c := strings.Compare(a.Kind+"\x00"+a.Name+"\x00"+a.Item, b.Kind+"\x00"+b.Name+"\x00"+b.Item); c != 0 {
			return c
		}
		return rank(a.Target) - rank(b.Target)
	})
	var last itemKey
	for i, r := range all {
		if i == 0 || keyOf(r) != last {
			last = keyOf(r)
			item := contract.ReturnFleetItem{Item: itemRecord(r)}
			if item.Newest, err = h.newest(ctx, r); err != nil {
				return answer, err
			}
			answer.Items = append(answer.Items, item)
		}
		target, err := h.itemTarget(ctx, r)
		if err != nil {
			return answer, err
		}
		item := &answer.Items[len(answer.Items)-1]
		item.Targets = append(item.Targets, target)
	}
	return answer, nil
}

func (h *Hub) itemTarget(ctx context.Context, r store.HubRollout) (contract.FleetItemTarget, error) {
	t := contract.FleetItemTarget{
		Target:  r.Target,
		Rollout: r.ID,
		Version: numberOf(r),
		Content: r.Content,
		State:   r.State,
	}
	if r.Removes {
		t.Content = "removed"
	}
	boxes, err := h.boxesOf(ctx, r)
	for _, b := range boxes {
		if b.State != boxReplaced {
			t.Boxes++
		}
		if b.State == boxRunning {
			t.Running++
		}
	}
	return t, err
}

// newest returns the number of the newest version of a config, prompt or tool; nil for other items, and if it was
// deleted.
func (h *Hub) newest(ctx context.Context, r store.HubRollout) (*int, error) {
	if r.Version < 0 {
		return nil, nil
	}
	account, err := h.Records.Account(ctx, r.Account)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ref := store.Ref{Kind: store.Kind(r.Kind), ID: r.Item, Version: store.Newest}
	v, err := h.Records.VersionOf(ctx, account.ID, ref)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &v.Number, err
}
