package hub

import (
	"context"
	"slices"
	"time"

	"parley/fleet"
)

// DoorBox is a box to which callers may be sent.
type DoorBox struct {
	Name   string
	Groups []string
	State  fleet.State
	Seen   time.Time
	// Configs are the ids of the configs that the box is to run, by account. It must not be changed.
	Configs map[string][]string
}

// DoorBoxes returns the boxes whose state is no older than onlineFor.
func (h *Hub) DoorBoxes() []DoorBox {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	var all []DoorBox
	for _, b := range h.boxes {
		if !b.online(now) {
			continue
		}
		one := DoorBox{
			Name:    b.name,
			Groups:  slices.Clone(b.groups),
			State:   b.state,
			Seen:    b.seen,
			Configs: h.current[b.name].configs,
		}
		all = append(all, one)
	}
	return all
}

// BoxOfGroup returns the box that has the newest chat of a group; a store.ErrNotFound if the hub knows none.
func (h *Hub) BoxOfGroup(ctx context.Context, groupID string) (string, error) {
	return h.Records.BoxOfGroup(ctx, groupID)
}

// BoxOfChat returns the box of a chat, and whether the chat is live; a store.ErrNotFound if the hub does not know it.
func (h *Hub) BoxOfChat(ctx context.Context, chatID string) (box string, live bool, err error) {
	return h.Records.BoxOfChat(ctx, chatID)
}
