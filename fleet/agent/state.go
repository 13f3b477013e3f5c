package agent

import (
	"context"
	"encoding/json"
	"time"

	"parley/fleet"
)

// sendStates sends the state of the box when it changed and from time to time, and notes it
// for the hub's history.
func (a *Agent) sendStates(ctx context.Context) {
	regular, health := time.NewTicker(a.Every), time.NewTicker(a.Health)
	defer regular.Stop()
	defer health.Stop()
	var sent fleet.State
	var at time.Time
	var gap <-chan time.Time // runs when a state came too early to be sent
	for {
		due, note := false, false
		select {
		case <-a.state:
		case <-gap:
			gap = nil
		case <-regular.C:
			due = true
		case <-health.C:
			note = true
		case <-ctx.Done():
			return
		}
		now := a.now(ctx)
		if note {
			a.noteHealth(ctx, now)
		}
		if !due && !changed(sent, now) || !a.connected() {
			continue
		}
		if rest := stateGap - time.Since(at); rest > 0 {
			if gap == nil {
				gap = time.After(rest)
			}
			continue
		}
		if a.send(ctx, now) {
			sent, at = now, time.Now()
		}
	}
}

// changed reports whether something changed that the hub wants to know at once.
func changed(a, b fleet.State) bool {
	return a.Live != b.Live || a.Seats != b.Seats || a.Ready != b.Ready || a.Address != b.Address ||
		a.Wanted != b.Wanted || a.Running != b.Running || a.Why != b.Why || a.Waits != b.Waits
}

// now returns the state of the box.
func (a *Agent) now(ctx context.Context) fleet.State {
	s := a.State(ctx)
	s.Box = a.Fleet.Box
	s.AtMS = time.Now().UnixMilli()
	s.Running, s.Wanted, s.Why = a.Status()
	var err error
	if s.FactsWaiting, s.FactsDropped, err = a.Records.FleetWaiting(ctx); err != nil && ctx.Err() == nil {
		a.Log.Warn("cannot count what the hub does not know", "err", err)
	}
	return s
}

// send sends a state. A failure is not retried: the next state is newer.
func (a *Agent) send(ctx context.Context, s fleet.State) bool {
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	if err := a.Hub.SendState(ctx, s); err != nil {
		a.Log.Debug("cannot send the state of the box", "err", err)
		return false
	}
	return true
}

func (a *Agent) noteHealth(ctx context.Context, s fleet.State) {
	text, err := json.Marshal(s)
	if err == nil {
		err = a.Records.AddFleetHealth(ctx, s.AtMS, string(text))
	}
	if err != nil && ctx.Err() == nil {
		a.Log.Warn("cannot note how the box is", "err", err)
	}
}
