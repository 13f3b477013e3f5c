package hub

import (
	"context"
	"errors"
	"slices"

	"parley/fleet/door"
	"parley/store"
)

// A Hub is the fleet of a door.
var _ door.Fleet = (*Hub)(nil)

// Boxes returns all boxes, with their newest states.
func (h *Hub) Boxes() []door.Box {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]door.Box, 0, len(h.boxes))
	for _, b := range h.boxes {
		all = append(all, door.Box{
			Name:   b.name,
			Groups: b.groups,
			State:  b.state,
			Seen:   b.seen,
		})
	}
	return all
}

// BoxesOf returns the boxes that run a config, and false if none is to run it.
func (h *Hub) BoxesOf(config string) (names map[string]bool, rolledOut bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names = map[string]bool{}
	for name, p := range h.current {
		b := h.boxes[name]
		if b == nil {
			continue
		}
		rolledOut = rolledOut || hasConfig(p.configs, config)
		runs := b.runs
		if runs == nil { // the hub has started, and does not know what the box ran before its present want
			runs = p.configs
		}
		if hasConfig(runs, config) {
			names[name] = true
		}
	}
	return names, rolledOut
}

func hasConfig(byAccount map[string][]string, id string) bool {
	for _, ids := range byAccount {
		if slices.Contains(ids, id) {
			return true
		}
	}
	return false
}

// knowRunning stores which configs a box runs, if it runs its present want. The caller holds h.mu.
func (h *Hub) knowRunning(b *liveBox) {
	if p, ok := h.current[b.name]; ok && b.state.Running == p.revision {
		b.runs = p.configs
		if b.runs == nil {
			b.runs = map[string][]string{}
		}
	}
}

// BoxOfGroup returns the box that has the newest chat of a group; empty if the hub knows none. It does not look at the
// account: the box does.
func (h *Hub) BoxOfGroup(ctx context.Context, _, groupID string) (string, error) {
	name, err := h.Records.BoxOfGroup(ctx, groupID)
	return name, known(err)
}

// BoxOfChat returns the box of a live chat; empty if the hub knows none. It does not look at the account: the box does.
func (h *Hub) BoxOfChat(ctx context.Context, _, chatID string) (string, error) {
	name, live, err := h.Records.BoxOfChat(ctx, chatID)
	if !live {
		name = ""
	}
	return name, known(err)
}

// known returns nil for an ErrNotFound of the store.
func known(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Key returns the API key with which the hub acts at a box for the account with this id.
func (h *Hub) Key(ctx context.Context, box, accountID string) (string, error) {
	name, err := h.Records.AccountName(ctx, accountID)
	if err != nil {
		return "", err
	}
	return h.DoorKey(ctx, box, name)
}
