package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/appliance/contract"
	"parley/fleet"
	"parley/store"
)

// onlineFor is how long a box counts as online after its last state: it sends one every ten seconds, and one may be
// lost.
const onlineFor = 25 * time.Second

// storeStateEvery bounds how often an unremarkable state is written to the database. The newest is in memory.
const storeStateEvery = time.Minute

// liveBox is what the hub knows of a box without asking the database.
type liveBox struct {
	name   string
	groups []string
	state  fleet.State
	seen   time.Time           // zero: never
	stored time.Time           // when the state was written to the database
	runs   map[string][]string // configs that it runs, by account; nil: not known
}

func (b liveBox) online(now time.Time) bool { return !b.seen.IsZero() && now.Sub(b.seen) <= onlineFor }

// loadBoxes reads the boxes of the database, and keeps what is newer in memory.
func (h *Hub) loadBoxes(ctx context.Context) error {
	h.loading.Lock()
	defer h.loading.Unlock()
	rows, err := h.Records.HubBoxes(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.boxes
	h.boxes = make(map[string]*liveBox, len(rows))
	for _, row := range rows {
		b := before[row.Name]
		if b == nil {
			b = &liveBox{name: row.Name}
			if row.State != nil && json.Unmarshal(row.State, &b.state) == nil {
				b.seen = time.UnixMilli(row.SeenMS)
			}
		}
		b.groups = row.Groups
		h.boxes[row.Name] = b
	}
	return nil
}

// sawState takes the newest state of a box.
func (h *Hub) sawState(s fleet.State, at time.Time) {
	h.mu.Lock()
	b := h.boxes[s.Box]
	if b == nil || !at.After(b.seen) {
		h.mu.Unlock()
		if b == nil {
			h.sawStranger(s)
		}
		return
	}
	before := b.state
	wasOnline := b.online(h.now())
	b.state, b.seen = s, at
	h.knowRunning(b)
	changed := !wasOnline || before.Running != s.Running || before.Wanted != s.Wanted || before.Why != s.Why ||
		before.Ready != s.Ready
	store := changed || at.Sub(b.stored) >= storeStateEvery
	if store {
		b.stored = at
	}
	h.mu.Unlock()
	if store {
		h.storeState(s, at)
	}
	if changed {
		h.replan()
	}
}

func (h *Hub) storeState(s fleet.State, at time.Time) {
	body, err := json.Marshal(s)
	if err == nil {
		err = h.Records.SawHubBox(context.Background(), s.Box, body, at.UnixMilli())
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrClosed) {
		h.Log.Warn("cannot store the state of a box", "box", s.Box, "err", err)
	}
}

// sawStranger adds a box that the database does not have.
func (h *Hub) sawStranger(s fleet.State) {
	if err := h.know(context.Background(), s.Box); err != nil && !errors.Is(err, store.ErrClosed) {
		h.Log.Warn("cannot add a box that sent its state", "box", s.Box, "err", err)
	}
}

// Fleet returns the state of the hub and of all boxes together.
func (h *Hub) Fleet(ctx context.Context) (contract.ReturnFleet, error) {
	connected, why := h.Bus.Connected()
	figures, err := h.Bus.Figures(ctx)
	if err != nil && connected {
		h.Log.Debug("the server does not say how many facts wait", "err", err)
	}
	f := contract.ReturnFleet{
		Name:           h.Name,
		Servers:        h.Servers,
		Embedded:       h.Inside,
		Connected:      connected,
		Why:            why,
		Groups:         []string{},
		FactsPerSecond: h.rate.perSecond(h.now()),
		Waiting:        int64(figures.Pending),
		Lost:           int64(figures.Lost),
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for _, b := range h.boxes {
		f.Boxes++
		f.Groups = append(f.Groups, b.groups...)
		online := b.online(now)
		if online {
			f.Online++
			f.Live += b.state.Live
			f.Seats += b.state.Seats
		}
		if !b.seen.IsZero() && (!online || !b.state.Ready || b.state.Why != "" || len(b.state.Problems) > 0) {
			f.Problems++
		}
	}
	slices.Sort(f.Groups)
	f.Groups = slices.Compact(f.Groups)
	return f, nil
}

// FleetBoxes returns all boxes, by name.
func (h *Hub) FleetBoxes(ctx context.Context) (contract.ReturnFleetBoxes, error) {
	rows, err := h.Records.HubBoxes(ctx)
	all := contract.ReturnFleetBoxes{Boxes: make([]contract.ReturnFleetBox, len(rows))}
	for i, row := range rows {
		if all.Boxes[i], err = h.boxRecord(ctx, row); err != nil {
			return all, err
		}
	}
	return all, err
}

// FleetBox returns a box.
func (h *Hub) FleetBox(ctx context.Context, name string) (contract.ReturnFleetBox, error) {
	row, err := h.Records.HubBox(ctx, name)
	if err != nil {
		return contract.ReturnFleetBox{}, missingBox(err, name)
	}
	return h.boxRecord(ctx, row)
}

func missingBox(err error, name string) error {
	if errors.Is(err, store.ErrNotFound) {
		return contract.ErrNotFound{What: "box", ID: name, Hint: "parley hub boxes lists those of this hub"}
	}
	return err
}

func (h *Hub) boxRecord(ctx context.Context, row store.HubBox) (contract.ReturnFleetBox, error) {
	chats, err := h.Records.HubChats(ctx, row.Name)
	r := contract.ReturnFleetBox{
		Name:     row.Name,
		Groups:   row.Groups,
		AddedOn:  row.AddedMS,
		JoinedOn: row.JoinedMS,
		Wanted:   row.Revision,
		Chats:    chats,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.boxes[row.Name]; b != nil && !b.seen.IsZero() {
		r.SeenOn, r.Online = b.seen.UnixMilli(), b.online(h.now())
		state := stateRecord(b.state)
		r.State = &state
	}
	return r, err
}

func stateRecord(s fleet.State) contract.FleetState {
	return contract.FleetState{
		On:           s.AtMS,
		Version:      s.Version,
		Address:      s.Address,
		Ready:        s.Ready,
		Missing:      s.Missing,
		Live:         s.Live,
		Seats:        s.Seats,
		AddedMS:      s.AddedMS,
		Running:      s.Running,
		Wanted:       s.Wanted,
		Why:          s.Why,
		Waits:        s.Waits,
		Cores:        s.Cores,
		Load:         s.Load,
		CoreCelsius:  s.CoreCelsius,
		DiskCelsius:  s.DiskCelsius,
		DiskFree:     s.DiskFree,
		DiskTotal:    s.DiskTotal,
		MemoryFree:   s.MemoryFree,
		MemoryTotal:  s.MemoryTotal,
		Problems:     s.Problems,
		FactsWaiting: s.FactsWaiting,
		FactsDropped: s.FactsDropped,
	}
}

// AddBox adds a box and makes its credentials.
func (h *Hub) AddBox(ctx context.Context, posted contract.PostedFleetBox) (contract.AddedFleetBox, error) {
	text, key, err := h.Trust.Join(posted.Name)
	if err != nil {
		return contract.AddedFleetBox{}, err
	}
	err = h.Records.AddHubBox(ctx, store.HubBox{
		Name:      posted.Name,
		Groups:    sorted(posted.Groups),
		PublicKey: key,
		AddedMS:   h.now().UnixMilli(),
	})
	if errors.Is(err, store.ErrConflict) {
		return contract.AddedFleetBox{}, contract.ErrConflict{Why: fmt.Sprintf("the hub has a box %s: POST "+
			"/v0/box/fleet/boxes/%[1]s/join (parley hub boxes %[1]s --join) makes new credentials for it", posted.Name)}
	}
	if err != nil {
		return contract.AddedFleetBox{}, err
	}
	return h.joined(ctx, posted.Name, text)
}

// joined returns a box with the text of its file, and plans what it is to run.
func (h *Hub) joined(ctx context.Context, name, text string) (contract.AddedFleetBox, error) {
	if err := h.loadBoxes(ctx); err != nil {
		return contract.AddedFleetBox{}, err
	}
	h.replan()
	box, err := h.FleetBox(ctx, name)
	return contract.AddedFleetBox{Box: box, Join: text}, err
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// JoinBox makes new credentials for a box, and revokes the old ones.
func (h *Hub) JoinBox(ctx context.Context, name string) (contract.AddedFleetBox, error) {
	row, err := h.Records.HubBox(ctx, name)
	if err != nil {
		return contract.AddedFleetBox{}, missingBox(err, name)
	}
	text, key, err := h.Trust.Join(name)
	if err != nil {
		return contract.AddedFleetBox{}, err
	}
	// The old key is revoked while the database still names it: after a failure, this is done again.
	if row.PublicKey != "" {
		if err := h.Trust.Revoke(ctx, row.PublicKey); err != nil {
			return contract.AddedFleetBox{}, fmt.Errorf("revoking the old credentials of box %s: %w", name, err)
		}
	}
	if err := h.Records.SetHubBoxKey(ctx, name, key, h.now().UnixMilli()); err != nil {
		return contract.AddedFleetBox{}, missingBox(err, name)
	}
	return h.joined(ctx, name, text)
}

// SetBoxGroups replaces the groups of a box.
func (h *Hub) SetBoxGroups(ctx context.Context, name string, groups []string) (contract.ReturnFleetBox, error) {
	if err := h.Records.SetHubBoxGroups(ctx, name, sorted(groups)); err != nil {
		return contract.ReturnFleetBox{}, missingBox(err, name)
	}
	if err := h.loadBoxes(ctx); err != nil {
		return contract.ReturnFleetBox{}, err
	}
	h.replan()
	return h.FleetBox(ctx, name)
}

// RemoveBox removes a box: its credentials are revoked first, so that a failure leaves a box that is still listed.
func (h *Hub) RemoveBox(ctx context.Context, name string) error {
	row, err := h.Records.HubBox(ctx, name)
	if err != nil {
		return missingBox(err, name)
	}
	if row.PublicKey != "" {
		if err := h.Trust.Revoke(ctx, row.PublicKey); err != nil {
			return fmt.Errorf("revoking the credentials of box %s: %w", name, err)
		}
	}
	if err := h.Records.RemoveHubBox(ctx, name); err != nil {
		return missingBox(err, name)
	}
	if err := h.Bus.Forget(ctx, name); err != nil {
		h.Log.Warn("the server still holds what a removed box was to run", "box", name, "err", err)
	}
	h.mu.Lock()
	delete(h.current, name)
	h.mu.Unlock()
	if err := h.loadBoxes(ctx); err != nil {
		return err
	}
	h.replan()
	return nil
}

// BoxHealth returns states of a box, oldest first: the newest, and as many of those before it as there may be.
func (h *Hub) BoxHealth(ctx context.Context, name string, sinceMS, untilMS int64, most int) (
	contract.ReturnFleetHealth, error) {
	answer := contract.ReturnFleetHealth{Box: name, States: []contract.FleetState{}}
	if _, err := h.Records.HubBox(ctx, name); err != nil {
		return answer, missingBox(err, name)
	}
	states, err := h.Records.HubHealth(ctx, name, sinceMS, untilMS)
	if err != nil {
		return answer, err
	}
	every := (len(states) + most - 1) / max(most, 1)
	for i, body := range states {
		if (len(states)-1-i)%max(every, 1) != 0 {
			continue
		}
		var s fleet.State
		if err := json.Unmarshal(body, &s); err != nil {
			return answer, fmt.Errorf("the health of box %s: %w", name, err)
		}
		answer.States = append(answer.States, stateRecord(s))
	}
	return answer, nil
}
