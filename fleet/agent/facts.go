package agent

import (
	"context"
	"errors"
	"time"

	"parley/fleet"
	"parley/fleet/bus"
	"parley/store"
)

// sendFacts sends what happens, as long as the hub can be reached.
func (a *Agent) sendFacts(ctx context.Context) {
	pause := firstRetry
	for {
		more, err := a.sendMessage(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			pause = firstRetry
			if more {
				continue
			}
		}
		retry := make(<-chan time.Time)
		if err != nil {
			a.Log.Warn("cannot tell the hub what happened; trying again", "in", pause, "err", err)
			retry, pause = time.After(pause), min(2*pause, lastRetry)
		}
		select {
		case <-a.Records.FleetChanged():
			a.sounds.up()
		case <-a.facts:
		case <-retry:
		case <-ctx.Done():
			return
		}
	}
}

// sendMessage sends one message. more reports whether there may be another one.
func (a *Agent) sendMessage(ctx context.Context) (more bool, err error) {
	if !a.connected() {
		return false, nil
	}
	m, err := a.Records.FleetMessage(ctx)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	facts := fleet.Facts{ID: m.ID, Box: a.Fleet.Box, Facts: make([]fleet.Fact, len(m.Facts))}
	for i, f := range m.Facts {
		if facts.Facts[i], err = factOf(f); err != nil {
			return false, err
		}
	}
	sending, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	num, err := a.Hub.SendFacts(sending, facts, uint64(m.After))
	last, other := errors.AsType[bus.ErrLast](err)
	switch {
	case err == nil:
		return true, a.Records.FleetMessageStored(ctx, m.ID, int64(num))
	case other && last.ID == m.ID: // its answer was lost
		return true, a.Records.FleetMessageStored(ctx, m.ID, int64(last.Seq))
	case other:
		a.Log.Warn("another copy of this box's data has told the hub something: a backup was restored, or the hub's "+
			"stream was emptied; going on after it", "number", last.Seq)
		return true, a.Records.FollowFleetMessage(ctx, int64(last.Seq))
	}
	return false, err
}
