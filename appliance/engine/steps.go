package engine

import (
	"context"
	"time"
)

// maxStepsHeld is how long Steps hold a core before they pass the gate anew, so that a conversation does not wait
// longer than for one step of a model.
const maxStepsHeld = 20 * time.Millisecond

// Steps lets work that takes many small steps hold one core of a gate, for maxStepsHeld at a time. One goroutine uses
// it.
type Steps struct {
	ctx     context.Context
	gate    *Gate
	urgency func() *Urgency
	leave   func() // nil while no core is held
	since   time.Time
}

// Steps returns the steps of some work. urgency returns the urgency of the next ones; nil means Batch. The steps of a
// nil gate hold nothing.
func (g *Gate) Steps(ctx context.Context, urgency func() *Urgency) *Steps {
	return &Steps{ctx: ctx, gate: g, urgency: urgency}
}

// Next is called before each step. It waits for the core if it was held for long enough, or is not held. The error is
// the cause of the context.
func (s *Steps) Next() error {
	err := context.Cause(s.ctx)
	if err != nil || s.gate == nil || s.leave != nil && time.Since(s.since) < maxStepsHeld {
		return err
	}
	s.Release()
	var u *Urgency
	if s.urgency != nil {
		u = s.urgency()
	}
	leave, err := s.gate.Enter(s.ctx, u, 1)
	if err != nil {
		return err
	}
	s.leave, s.since = leave, time.Now()
	return nil
}

// Release returns the core, if it is held. It is called at the end of the work.
func (s *Steps) Release() {
	if s.leave != nil {
		s.leave()
	}
	s.leave = nil
}
