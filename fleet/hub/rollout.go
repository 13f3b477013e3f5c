package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"parley/appliance/contract"
	"parley/store"
)

// The states of roll-outs, as the database has them.
const (
	canary  = contract.RolloutCanary
	rolling = contract.RolloutRolling
	done    = contract.RolloutDone
	stopped = contract.RolloutStopped
	failed  = contract.RolloutFailed
)

// BeginRollout begins a roll-out of what the account with the id has, unless the item names another account.
func (h *Hub) BeginRollout(ctx context.Context, accountID string, posted contract.PostedRollout) (
	contract.ReturnRollout, error) {
	account, err := h.accountOf(ctx, accountID, posted.Item.Account)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	if err := h.checkTarget(posted.Target); err != nil {
		return contract.ReturnRollout{}, err
	}
	p, err := h.pinnedOrNamed(ctx, account, posted)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	active, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	for _, r := range active {
		if keyOf(r) == p.key && r.Target == posted.Target && r.State == canary {
			return contract.ReturnRollout{}, contract.ErrConflict{Why: fmt.Sprintf("roll-out %d of it to %s is with "+
				"its canaries: stop it or continue it first (parley hub rollout --stop %[1]d)", r.ID, r.Target)}
		}
	}
	boxes, unready, err := h.canaries(posted, p.key, active)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	body, err := packBody(p.part)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	r := store.HubRollout{
		Kind:      p.key.kind,
		Account:   p.key.account,
		Item:      p.key.item,
		Name:      p.name,
		Version:   p.version,
		Content:   p.content,
		Removes:   posted.Remove,
		Target:    posted.Target,
		Canary:    boxes,
		Unready:   unready,
		SoakMS:    soak(posted).Milliseconds(),
		State:     rolling,
		CreatedMS: h.now().UnixMilli(),
		Body:      body,
	}
	if len(boxes) > 0 {
		r.State = canary
	}
	id, err := h.Records.AddHubRollout(ctx, r)
	if err != nil {
		return contract.ReturnRollout{}, err
	}
	h.replan()
	return h.Rollout(ctx, id)
}

func soak(posted contract.PostedRollout) time.Duration {
	if posted.SoakMinutes == nil {
		return contract.DefaultSoakMinutes * time.Minute
	}
	return time.Duration(*posted.SoakMinutes) * time.Minute
}

func (h *Hub) accountOf(ctx context.Context, id, name string) (store.Account, error) {
	if name == "" {
		name, err := h.Records.AccountName(ctx, id)
		return store.Account{ID: id, Name: name}, err
	}
	account, err := h.Records.Account(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return account, contract.ErrNotFound{What: "account", ID: name, Field: "item.account"}
	}
	return account, err
}

// pinnedOrNamed returns the item with all that it needs; to remove it, its name is enough.
func (h *Hub) pinnedOrNamed(ctx context.Context, account store.Account, posted contract.PostedRollout) (pinned, error) {
	if !posted.Remove {
		return h.pin(ctx, account, posted)
	}
	p := named(account, posted.Item)
	if p.key.item != "" || p.key.kind == string(contract.FleetLexicon) {
		return p, nil
	}
	// The name of what was rolled out before, which the hub may have no more.
	all, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return p, err
	}
	for _, r := range slices.Backward(all) {
		if r.Kind == p.key.kind && r.Account == p.key.account && r.Name == p.name {
			p.key.item = r.Item
			return p, nil
		}
	}
	return p, contract.ErrNotFound{What: "rolled out " + p.key.kind, ID: p.name, Field: "item.name"}
}

// checkTarget returns an error for a box or a group that the hub does not have.
func (h *Hub) checkTarget(target string) error {
	kind, name, _ := strings.Cut(target, ":")
	h.mu.Lock()
	defer h.mu.Unlock()
	switch kind {
	case "box":
		if h.boxes[name] == nil {
			return contract.ErrNotFound{What: "box", ID: name, Field: "target",
				Hint: "parley hub boxes lists those of this hub"}
		}
	case "group":
		for _, b := range h.boxes {
			if slices.Contains(b.groups, name) {
				return nil
			}
		}
		return contract.ErrNotFound{What: "group with a box", ID: name, Field: "target"}
	}
	return nil
}

// canaries returns the boxes that run a roll-out first: those that were named, or as many as were asked for of those
// that are online, those that are ready first. A box with a narrower roll-out of the item would not run it. unready are
// those that are not ready now, so that this is no new problem.
func (h *Hub) canaries(posted contract.PostedRollout, key itemKey, active []store.HubRollout) (names, unready []string,
	err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	narrower := func(b *liveBox) bool {
		return slices.ContainsFunc(active, func(r store.HubRollout) bool {
			return keyOf(r) == key && rank(r.Target) > rank(posted.Target) && reaches(r.Target, b.name, b.groups)
		})
	}
	now := h.now()
	if len(posted.CanaryBoxes) > 0 {
		for _, name := range sorted(posted.CanaryBoxes) {
			b := h.boxes[name]
			switch {
			case b == nil || !reaches(posted.Target, b.name, b.groups):
				return nil, nil, contract.ErrInvalid{Field: "canary_boxes",
					Why: fmt.Sprintf("%.60q is no box of %s", name, posted.Target)}
			case narrower(b):
				return nil, nil, contract.ErrInvalid{Field: "canary_boxes",
					Why: fmt.Sprintf("%q has a roll-out of this item with a narrower target, which counts there; "+
						"choose another box", name)}
			}
			names = append(names, name)
		}
	} else if posted.Canary > 0 {
		var able []*liveBox
		for _, b := range h.boxes {
			if b.online(now) && reaches(posted.Target, b.name, b.groups) && !narrower(b) {
				able = append(able, b)
			}
		}
		rand.Shuffle(len(able), func(i, j int) { able[i], able[j] = able[j], able[i] })
		slices.SortStableFunc(able, func(a, b *liveBox) int { return order(b.state.Ready) - order(a.state.Ready) })
		if len(able) < posted.Canary {
			return nil, nil, contract.ErrConflict{Why: fmt.Sprintf("canary: %d boxes of %s are online, and %d are "+
				"asked for; ask for fewer, or name boxes", len(able), posted.Target, posted.Canary)}
		}
		for _, b := range able[:posted.Canary] {
			names = append(names, b.name)
		}
		slices.Sort(names)
	}
	for _, name := range names {
		if !h.boxes[name].state.Ready {
			unready = append(unready, name)
		}
	}
	return names, unready, nil
}

func order(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// StopRollout takes a roll-out back everywhere it went.
func (h *Hub) StopRollout(ctx context.Context, id int64) (contract.ReturnRollout, error) {
	return h.moveTo(ctx, id, []string{canary, rolling, done}, stopped, "an operator stopped it")
}

// ContinueRollout takes a roll-out from its canaries to its whole target.
func (h *Hub) ContinueRollout(ctx context.Context, id int64) (contract.ReturnRollout, error) {
	return h.moveTo(ctx, id, []string{canary}, rolling, "")
}

func (h *Hub) moveTo(ctx context.Context, id int64, from []string, state, why string) (contract.ReturnRollout, error) {
	err := h.Records.SetHubRollout(ctx, id, from, state, why, h.now().UnixMilli())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return contract.ReturnRollout{}, missingRollout(id)
	case errors.Is(err, store.ErrConflict):
		r, err := h.Records.HubRollout(ctx, id)
		if err != nil {
			return contract.ReturnRollout{}, err
		}
		return contract.ReturnRollout{}, contract.ErrConflict{Why: fmt.Sprintf("the roll-out is %s; this needs one "+
			"that is %s", r.State, strings.Join(from, " or "))}
	case err != nil:
		return contract.ReturnRollout{}, err
	}
	h.replan()
	return h.Rollout(ctx, id)
}

func missingRollout(id int64) error {
	return contract.ErrNotFound{What: "roll-out", ID: fmt.Sprint(id), Hint: "parley hub rollout lists them"}
}

// moveRollouts moves roll-outs on that can. moved reports whether any went to another state; again is after which time
// one may by itself, 0: none.
func (h *Hub) moveRollouts(ctx context.Context) (moved bool, again time.Duration, err error) {
	all, err := h.Records.ActiveRollouts(ctx)
	if err != nil {
		return false, 0, err
	}
	for _, r := range all {
		var state, why string
		wait := time.Duration(0)
		switch r.State {
		case canary:
			state, why, wait, err = h.judge(ctx, r)
		case rolling:
			state, err = h.finished(ctx, r)
		}
		if err != nil {
			return moved, 0, fmt.Errorf("roll-out %d: %w", r.ID, err)
		}
		if wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
		if state == "" {
			continue
		}
		err := h.Records.SetHubRollout(ctx, r.ID, []string{r.State}, state, why, h.now().UnixMilli())
		if errors.Is(err, store.ErrConflict) { // an operator was faster
			continue
		}
		if err != nil {
			return moved, 0, err
		}
		h.Log.Info("a roll-out went on", "rollout", r.ID, "item", r.Kind+" "+r.Name, "target", r.Target, "state", state,
			"why", why)
		moved = true
	}
	return moved, again, nil
}

// judge decides how a roll-out goes on that is with its canaries: not yet (no state), to the whole target, or back.
// wait is when to look again.
func (h *Hub) judge(ctx context.Context, r store.HubRollout) (state, why string, wait time.Duration, err error) {
	revisions, err := h.Records.HubRolloutRevisions(ctx, r.ID)
	if err != nil {
		return "", "", 0, err
	}
	waits := ""
	for _, name := range r.Canary {
		switch how, why := h.howFar(name, revisions[name]); how {
		case boxFailed:
			return failed, "box " + name + ": " + why, 0, nil
		case boxWaiting:
			waits = "waits for box " + name
			if why != "" {
				waits += ", which " + why
			}
		case boxRunning:
			if problem := h.newProblem(name, r); problem != "" {
				return failed, "box " + name + ": " + problem, 0, nil
			}
			if !h.isOnline(name) { // perhaps because of it
				waits = "waits for box " + name + ", which runs it and is offline"
			}
		}
	}
	if waits != "" {
		return "", "", planWait, h.setSoak(ctx, r, 0, waits)
	}
	now := h.now().UnixMilli()
	if r.SoakFrom == 0 {
		if err := h.setSoak(ctx, r, now, "all canaries run it"); err != nil {
			return "", "", 0, err
		}
		r.SoakFrom = now
	}
	if problem, err := h.moreErrors(ctx, r, now); problem != "" || err != nil {
		return failed, problem, 0, err
	}
	if left := r.SoakFrom + r.SoakMS - now; left > 0 {
		return "", "", time.Duration(left) * time.Millisecond, nil
	}
	return rolling, "", 0, nil
}

func (h *Hub) setSoak(ctx context.Context, r store.HubRollout, from int64, why string) error {
	if r.SoakFrom == from && r.Why == why {
		return nil
	}
	return h.Records.SetHubSoak(ctx, r.ID, from, why)
}

// How far a box is with a roll-out.
const (
	boxWaiting  = "waiting"
	boxRunning  = "running"
	boxFailed   = "failed"
	boxReplaced = "replaced"
)

// howFar returns how far a box is that is to run something from a revision on; 0: it is not yet decided.
func (h *Hub) howFar(name string, revision int64) (how, why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.boxes[name]
	switch {
	case b == nil:
		return boxWaiting, "is not in the list of boxes any more"
	case revision > 0 && b.state.Running >= revision:
		return boxRunning, ""
	case !b.online(h.now()):
		return boxWaiting, "is offline"
	case revision > 0 && b.state.Wanted >= revision && b.state.Why != "":
		return boxFailed, b.state.Why
	}
	return boxWaiting, ""
}

func (h *Hub) isOnline(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.boxes[name]
	return b != nil && b.online(h.now())
}

// newProblem returns what is wrong with a canary that was not before, in words.
func (h *Hub) newProblem(name string, r store.HubRollout) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	b := h.boxes[name]
	if b == nil || b.state.Ready || slices.Contains(r.Unready, name) {
		return ""
	}
	return "no chat can start since then: " + strings.Join(b.state.Missing, "; ")
}

// moreErrors returns, in words, that more chats of a canary ended as errors since all canaries run it than in as long a
// time before.
func (h *Hub) moreErrors(ctx context.Context, r store.HubRollout, now int64) (string, error) {
	length := now - r.SoakFrom
	for _, name := range r.Canary {
		before, err := h.Records.FailedHubChats(ctx, name, r.CreatedMS-length, r.CreatedMS)
		if err != nil {
			return "", err
		}
		since, err := h.Records.FailedHubChats(ctx, name, r.SoakFrom, now)
		if err != nil {
			return "", err
		}
		if since > before {
			return fmt.Sprintf("box %s: %d chats ended as errors since it runs it, and %d in as long a time before",
				name, since, before), nil
		}
	}
	return "", nil
}

// finished returns the state of a roll-out that all boxes of its target run, and no state if some do not yet.
func (h *Hub) finished(ctx context.Context, r store.HubRollout) (state string, err error) {
	boxes, err := h.boxesOf(ctx, r)
	if err != nil {
		return "", err
	}
	for _, b := range boxes {
		if b.State != boxRunning && b.State != boxReplaced {
			return "", nil
		}
	}
	return done, nil
}
