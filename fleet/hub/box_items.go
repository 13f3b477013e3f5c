package hub

import (
	"context"
	"slices"
	"strings"

	"parley/appliance/contract"
)

// BoxItems returns what a box is to run, by kind and name, and how far it is with each.
func (h *Hub) BoxItems(ctx context.Context, name string) (contract.ReturnFleetBoxItems, error) {
	answer := contract.ReturnFleetBoxItems{Items: []contract.FleetBoxItem{}}
	row, err := h.Records.HubBox(ctx, name)
	if err != nil {
		return answer, missingBox(err, name)
	}
	active, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return answer, err
	}
	for _, r := range choose(row, active) {
		revisions, err := h.Records.HubRolloutRevisions(ctx, r.ID)
		if err != nil {
			return answer, err
		}
		item := contract.FleetBoxItem{
			Item:    itemRecord(r),
			Version: numberOf(r),
			Content: r.Content,
			Remove:  r.Removes,
			Target:  r.Target,
			Rollout: r.ID,
		}
		item.State, item.Why = h.howFar(name, revisions[name])
		if item.Remove && item.State == boxRunning {
			continue // it is gone
		}
		answer.Items = append(answer.Items, item)
	}
	slices.SortFunc(answer.Items, func(a, b contract.FleetBoxItem) int {
		return strings.Compare(orderOf(a.Item), orderOf(b.Item))
	})
	return answer, nil
}

func orderOf(i contract.FleetItem) string {
	return strings.Join([]string{string(i.Kind), i.Name, i.Account, i.ID}, "\x00")
}
