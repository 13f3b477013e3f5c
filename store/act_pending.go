package store

import (
	"cmp"
	"context"
	"sync"
)

// PendingAct is an act that is recorded in the transaction of the first change under its
// context. So there is no change without its record, and no record without its change. It
// is safe for concurrent use.
type PendingAct struct {
	mu      sync.Mutex
	act     Act
	written bool
}

type pendingActKey struct{}

// WithAct returns a context under which the first change of a store records the act. An
// act without a What is not recorded until Amend has set one.
func WithAct(ctx context.Context, a Act) (context.Context, *PendingAct) {
	p := &PendingAct{act: a}
	return context.WithValue(ctx, pendingActKey{}, p), p
}

// AmendAct calls change with the pending act of ctx, if it has one that is not recorded
// yet. What is done knows best what it was done to.
func AmendAct(ctx context.Context, change func(*Act)) {
	p, _ := ctx.Value(pendingActKey{}).(*PendingAct)
	if p == nil {
		return
	}
	if a, _ := p.Act(); a.What != "" {
		p.Amend(change)
	}
}

// amendAct sets the object of the pending act of ctx, and its text if that is not empty,
// provided that the act is on such an object.
func amendAct(ctx context.Context, on Object, text string) {
	AmendAct(ctx, func(a *Act) {
		if a.On.Kind == on.Kind {
			a.On = on
			a.Text = cmp.Or(text, a.Text)
		}
	})
}

// Amend calls change with the act, unless it is recorded already.
func (p *PendingAct) Amend(change func(*Act)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.written {
		change(&p.act)
	}
}

// Act returns the act, and whether it is recorded.
func (p *PendingAct) Act() (a Act, recorded bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.act, p.written
}

// withPendingAct returns a write that also records the pending act of ctx, and a function
// to call when it is committed, which returns whether there was one to record.
func withPendingAct(ctx context.Context, do func(context.Context, conn) error) (
	_ func(context.Context, conn) error, committed func() bool,
) {
	p, _ := ctx.Value(pendingActKey{}).(*PendingAct)
	if p == nil {
		return do, func() bool { return false }
	}
	wrote := false
	return func(ctx context.Context, c conn) error {
			if err := do(ctx, c); err != nil {
				return err
			}
			a, recorded := p.Act()
			if wrote = !recorded && a.What != ""; !wrote {
				return nil
			}
			return insertAct(ctx, c, a)
		}, func() bool {
			if wrote {
				p.mu.Lock()
				p.written = true
				p.mu.Unlock()
			}
			return wrote
		}
}
