package sandbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"parley/plugins/manifest"
)

// idleTimeout is how long an instance waits for another call: longer than people think
// between two questions, and shorter than they are away.
const idleTimeout = 2 * time.Minute

// pool bounds the number of instances of all modules, and holds the idle ones.
type pool struct {
	slots chan struct{} // each open instance takes one

	mu      sync.Mutex
	idle    []*instance // longest idle first
	waiting int         // calls that wait for a slot
}

// acquire returns an idle instance that c may use, or a new one.
func (m *Module) acquire(ctx context.Context, c Call) (i *instance, fresh bool, err error) {
	if m.isClosed() {
		return nil, false, m.closedFault()
	}
	p := &m.host.pool
	if i := p.idleFor(m, c); i != nil {
		return i, false, nil
	}
	if err := p.acquireSlot(ctx, m.host.wait); err != nil {
		return nil, false, err
	}
	return m.newInstance(c), true, nil
}

// acquireSlot takes a slot. It closes the instance that was idle longest if there is one,
// and otherwise waits.
func (p *pool) acquireSlot(ctx context.Context, most time.Duration) error {
	select {
	case p.slots <- struct{}{}:
		return nil
	default:
	}
	p.mu.Lock()
	p.waiting++
	var oldest *instance
	if len(p.idle) > 0 {
		oldest, p.idle = p.idle[0], p.idle[1:]
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
	}()
	if oldest != nil {
		oldest.close()
	}
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case p.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fault(Gone, "the caller canceled the call")
	case <-late.C:
		return fault(Busy, "all %d instances of plugins are busy, and none became free within %v", cap(p.slots), most)
	}
}

// idleFor returns an idle instance that c may use; nil if there is none.
func (p *pool) idleFor(m *Module, c Call) *instance {
	if m.command || m.manifest.Reuse == manifest.ReuseNone {
		return nil
	}
	who := m.ownerOf(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.idle) - 1; n >= 0; n-- {
		if i := p.idle[n]; i.module == m && i.owner == who && i.fits(c.Granted) {
			p.idle = slices.Delete(p.idle, n, n+1)
			i.idleTimer.Stop()
			return i
		}
	}
	return nil
}

// ownerOf returns who may use an instance that c has used: never another account.
func (m *Module) ownerOf(c Call) owner {
	if m.manifest.Reuse == manifest.ReuseAny {
		return owner{account: c.Account}
	}
	return owner{c.Account, c.Chat}
}

// fits reports whether an instance was made with the permissions of now.
func (i *instance) fits(now manifest.Permissions) bool {
	return i.granted.Memory == now.Memory && slices.Equal(i.granted.Files, now.Files) &&
		slices.Equal(i.granted.Env, now.Env)
}

// release keeps an instance for the next call, or closes it after a fault and if no other
// call may use it.
func (m *Module) release(i *instance, good bool) {
	if good && !m.command && m.manifest.Reuse != manifest.ReuseNone && !i.mod.IsClosed() {
		if i.kernel != nil {
			i.kernel.reset()
		}
		if m.host.pool.keep(i) {
			return
		}
	}
	i.close()
}

// keep keeps an instance for another call, unless a call waits for its slot.
func (p *pool) keep(i *instance) bool {
	i.module.mu.Lock()
	defer i.module.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if i.module.closed || p.waiting > 0 {
		return false
	}
	if i.idleTimer == nil {
		i.idleTimer = time.AfterFunc(idleTimeout, func() { p.drop(func(other *instance) bool { return other == i }) })
	} else {
		i.idleTimer.Reset(idleTimeout)
	}
	p.idle = append(p.idle, i)
	return true
}

// drop closes idle instances.
func (p *pool) drop(which func(*instance) bool) {
	var dropped []*instance
	p.mu.Lock()
	p.idle = slices.DeleteFunc(p.idle, func(i *instance) bool {
		if which(i) {
			dropped = append(dropped, i)
			return true
		}
		return false
	})
	p.mu.Unlock()
	for _, i := range dropped {
		i.close()
	}
}
