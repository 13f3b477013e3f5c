package analysis

import (
	"context"
	"time"

	"parley/appliance/engine"
)

// maxHeld is how long work in Go holds a core before it passes the gate anew, so that a conversation does not wait
// longer than for one step of a model.
const maxHeld = 20 * time.Millisecond

// turnAtGate lets work that takes many small steps hold one core of the gate for maxHeld at a time.
type turnAtGate struct {
	ctx     context.Context
	gate    *engine.Gate
	urgency func() *engine.Urgency // as in Request
	leave   func()                 // nil while no core is held
	since   time.Time
}

// next is called before each step. It waits for the core if it was held for long enough, or is not held.
func (c *turnAtGate) next() error {
	if c.leave != nil && time.Since(c.since) < maxHeld {
		return nil
	}
	c.release()
	var u *engine.Urgency
	if c.urgency != nil {
		u = c.urgency()
	}
	leave, err := c.gate.Enter(c.ctx, u, 1)
	if err != nil {
		return err
	}
	c.leave, c.since = leave, time.Now()
	return nil
}

// release returns the core, if it is held. It is called at the end of the work.
func (c *turnAtGate) release() {
	if c.leave != nil {
		c.leave()
	}
	c.leave = nil
}

// A step is called before each small step of some work, and may hold it back.
type step func() error

// freely is the step of work that nothing holds back, because it is short.
func freely() error { return nil }
