package hub

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/fleet"
	"parley/store"
)

// itemKey tells an item from all others.
type itemKey struct{ kind, account, item string }

func keyOf(r store.HubRollout) itemKey { return itemKey{r.Kind, r.Account, r.Item} }

// plan is what a box is to run.
type plan struct {
	rollouts map[itemKey]int64   // the roll-out that counts for each item
	configs  map[string][]string // ids by account
	revision int64
	hash     []byte
	sent     bool // the server has it
}

// planWait is the longest time without a plan. States of boxes and changes bring one at once; this is for soak times
// that end and for what could not be sent.
const planWait = 5 * time.Second

// planAll computes what boxes are to run whenever that may have changed, until ctx ends.
func (h *Hub) planAll(ctx context.Context) error {
	wake := time.NewTimer(0)
	defer wake.Stop()
	for {
		select {
		case <-h.wake:
		case <-wake.C:
		case <-ctx.Done():
			return nil
		}
		again, err := h.planOnce(ctx)
		if err != nil {
			h.replan()
			return err
		}
		if again > 0 {
			wake.Reset(min(again, planWait))
		}
	}
}

// planOnce moves roll-outs on, and stores and sends what has changed of what boxes are to run. again is after which
// time something may change by itself; 0: nothing will.
func (h *Hub) planOnce(ctx context.Context) (again time.Duration, err error) {
	for moved := true; moved; {
		if moved, again, err = h.moveRollouts(ctx); err != nil {
			return 0, err
		}
	}
	rollouts, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return 0, err
	}
	common, err := h.commonWant(ctx)
	if err != nil {
		return 0, err
	}
	rows, err := h.Records.HubBoxes(ctx)
	if err != nil {
		return 0, err
	}
	c := composer{common: common, bodies: map[int64]fleet.Want{}, made: map[string]composed{}}
	limit := make(chan struct{}, parallelWants)
	var wait sync.WaitGroup
	defer wait.Wait() // also after an error: two plans must not give at once
	failed := make(chan error, len(rows))
	for _, row := range rows {
		chosen := choose(row, rollouts)
		want, err := c.compose(chosen)
		if err != nil {
			return 0, fmt.Errorf("box %s: %w", row.Name, err)
		}
		limit <- struct{}{}
		wait.Go(func() {
			defer func() { <-limit }()
			if err := h.give(ctx, row, chosen, want); err != nil && !errors.Is(err, store.ErrNotFound) {
				failed <- fmt.Errorf("telling box %s what to run: %w", row.Name, err)
			}
		})
	}
	wait.Wait()
	select {
	case err := <-failed:
		return 0, err
	default:
		return again, nil
	}
}

// parallelWants is how many boxes are given what they are to run at once. The database and the server commit them
// together.
const parallelWants = 16

// rank is how narrow a target is: of one item, the narrower target counts.
func rank(target string) int {
	switch kind, _, _ := strings.Cut(target, ":"); kind {
	case "box":
		return 2
	case "group":
		return 1
	}
	return 0
}

// reaches reports whether a target has a box.
func reaches(target, box string, groups []string) bool {
	switch kind, name, _ := strings.Cut(target, ":"); kind {
	case "all":
		return true
	case "box":
		return name == box
	default:
		return slices.Contains(groups, name)
	}
}

// choose returns the roll-outs that count for a box, one for each item: that with the narrowest target, and of several
// the newest. Before it goes to its whole target, a roll-out reaches its canaries only.
func choose(box store.HubBox, rollouts []store.HubRollout) map[itemKey]store.HubRollout {
	chosen := map[itemKey]store.HubRollout{}
	for _, r := range rollouts { // oldest first
		if !reaches(r.Target, box.Name, box.Groups) || r.State == canary && !slices.Contains(r.Canary, box.Name) {
			continue
		}
		if before, ok := chosen[keyOf(r)]; !ok || rank(r.Target) >= rank(before.Target) {
			chosen[keyOf(r)] = r
		}
	}
	return chosen
}

// composer puts together what boxes are to run. Boxes with the same roll-outs are computed once.
type composer struct {
	common fleet.Want
	bodies map[int64]fleet.Want
	made   map[string]composed
}

type composed struct {
	want    fleet.Want // without the revision
	hash    []byte
	configs map[string][]string
}

func (c composer) compose(chosen map[itemKey]store.HubRollout) (composed, error) {
	all := slices.SortedFunc(maps.Values(chosen), func(a, b store.HubRollout) int { return cmp.Compare(a.ID, b.ID) })
	var name strings.Builder
	for _, r := range all {
		fmt.Fprint(&name, r.ID, " ")
	}
	if done, ok := c.made[name.String()]; ok {
		return done, nil
	}
	w := newMerger(c.common)
	for _, r := range all {
		if r.Removes {
			continue
		}
		body, ok := c.bodies[r.ID]
		if !ok {
			var err error
			if body, err = unpackBody(r.Body); err != nil {
				return composed{}, fmt.Errorf("roll-out %d: %w", r.ID, err)
			}
			c.bodies[r.ID] = body
		}
		w.add(body)
	}
	want := w.want()
	text, err := json.Marshal(want)
	if err != nil {
		return composed{}, err
	}
	sum := sha256.Sum256(text)
	done := composed{want, sum[:], map[string][]string{}}
	for _, a := range want.Accounts {
		for _, r := range a.Configs {
			done.configs[a.Name] = append(done.configs[a.Name], r.ID)
		}
	}
	c.made[name.String()] = done
	return done, nil
}

// maxReported is the greatest revision that is believed of a box, so that those after it are numbers too.
const maxReported = 1 << 62

// give stores what a box is to run, and sends it, if it is not what the box was to run before.
func (h *Hub) give(ctx context.Context, row store.HubBox, chosen map[itemKey]store.HubRollout, want composed) error {
	ids := make(map[itemKey]int64, len(chosen))
	for key, r := range chosen {
		ids[key] = r.ID
	}
	h.mu.Lock()
	before, known := h.current[row.Name]
	var reported int64
	if b := h.boxes[row.Name]; b != nil {
		reported = min(b.state.Wanted, maxReported)
	}
	h.mu.Unlock()
	next := plan{ids, want.configs, row.Revision, want.hash, known && before.sent}
	if !slices.Equal(row.WantHash, want.hash) || reported > row.Revision {
		// A box knows a later revision than the hub if the hub's database was restored from a backup.
		next.revision, next.sent = max(row.Revision, reported)+1, false
	}
	if next.revision != row.Revision || !known || !maps.Equal(before.rollouts, ids) {
		err := h.Records.SetHubWant(ctx, store.HubWant{
			Box:      row.Name,
			Revision: next.revision,
			Hash:     want.hash,
			Rollouts: slices.Sorted(maps.Values(ids)),
		})
		if err != nil {
			return err
		}
	}
	h.setPlan(row.Name, next)
	if next.sent {
		return nil
	}
	if err := h.putPlugins(ctx, want.want.Plugins); err != nil {
		return err
	}
	send, err := h.addDoorKeys(ctx, row.Name, want.want)
	if err != nil {
		return err
	}
	send.Revision = next.revision
	if err := h.Bus.PutWant(ctx, row.Name, send); err != nil {
		return err
	}
	next.sent = true
	h.setPlan(row.Name, next)
	return nil
}

// putPlugins puts files of plugins back that the server does not have, since it is another one than before. A version
// that the hub does not have any more cannot be put back; boxes that have it keep it, and others say what is missing.
func (h *Hub) putPlugins(ctx context.Context, all []fleet.Plugin) error {
	for _, p := range all {
		if there, err := h.Bus.HasPlugin(ctx, p.SHA256); err != nil || there {
			if err != nil {
				return err
			}
			continue
		}
		installed, file, err := h.Plugins.Plugin(ctx, p.Name)
		if err != nil || installed.SHA256 != p.SHA256 {
			h.Log.Warn("boxes cannot fetch a plugin: the server does not have it, and the hub has another version or "+
				"none", "plugin", p.Name, "version", p.Version, "err", err)
			continue
		}
		if err := h.Bus.PutPlugin(ctx, p.SHA256, bytes.NewReader(file)); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hub) setPlan(box string, p plan) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.boxes[box]; b != nil {
		h.current[box] = p
		h.knowRunning(b)
	}
}

// sendAgain has everything that boxes are to run sent again.
func (h *Hub) sendAgain() {
	h.mu.Lock()
	for box, p := range h.current {
		p.sent = false
		h.current[box] = p
	}
	h.mu.Unlock()
	h.replan()
}
