package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// A box that has just started, or opened a chat, prefills its prompt. It is idle when it
	// uses less than idleThreshold of a core for a second, or after settleTimeout: what
	// still runs then belongs to its idle state.
	idleThreshold = 0.1
	settleTimeout = time.Minute
	// The limits for an idle box and a silent chat, in percent of a core.
	idleLimit, silentLimit = 1, 1.5
	// readyLimit is how long a start may take, in seconds.
	readyLimit = 3
)

// memoryLimits returns the memory limits of a box, in GiB, by profile.
func memoryLimits() map[string]float64 { return map[string]float64{"default": 2.4, "small": 1.1} }

// Talk measures conversations with a box over its WebSocket, in real time.
func Talk(ctx context.Context, o Options) (r Report, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	said, err := recordings(o.Recordings)
	if err != nil {
		return r, err
	}
	asked := turns(said, o.Turns)
	if len(asked) == 0 {
		return r, fmt.Errorf("no recording in %s is %v to %v long without a pause over %v, as turns need",
			o.Recordings, shortestTurn, longestTurn, longestTurnPause)
	}
	e := o.Config.Engines
	r = Report{Bench: "talk", Machine: describe(o.Config, "turn", e.Transcriber, e.LanguageModel.Pack, e.Voice)}
	o.announce("starting a box")
	b, err := startBox(ctx, o)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, b.stop()) }()
	r.against("ready", b.ready.Seconds(), "s", readyLimit, "from the start of the process; the limit")
	if o.Idle > 0 {
		if err := r.idle(ctx, o, b); err != nil {
			return r, err
		}
	}
	var a *limitMeter
	if o.Batch == "" && !o.Programs { // an analysis job does not yield to the engines of this process
		if a, err = openLimitMeter(ctx, o); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, a.close()) }()
	}
	if err := r.rounds(ctx, o, b.endpoint, asked, a); err != nil {
		return r, err
	}
	r.memory(b.pid, memoryLimits()[o.Config.Profile])
	return r, nil
}

// idle measures the box without a chat, and with a silent one.
func (r *Report) idle(ctx context.Context, o Options, b *box) error {
	o.announce("watching the idle box for %v", o.Idle)
	share, err := idleShare(ctx, b.pid, o.Idle)
	if err != nil {
		return err
	}
	r.against("idle", 100*share, "% of a core", idleLimit, "no chat is open; the limit")
	o.announce("watching a silent chat for %v", o.Idle)
	c, err := call(ctx, b.endpoint, hotel)
	if err != nil {
		return err
	}
	defer c.hangUp()
	share, err = idleShare(ctx, b.pid, o.Idle)
	r.against("silent_chat", 100*share, "% of a core", silentLimit, "digital silence in real time; the limit")
	return err
}

// idleShare returns the share of a core that a process uses over d, once it is idle.
func idleShare(ctx context.Context, pid int, d time.Duration) (float64, error) {
	for begun := time.Now(); time.Since(begun) < settleTimeout; {
		share, err := cpuShare(ctx, pid, time.Second)
		if err != nil {
			return 0, err
		}
		if share < idleThreshold {
			break
		}
	}
	return cpuShare(ctx, pid, d)
}
