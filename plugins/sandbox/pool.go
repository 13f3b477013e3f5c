package sandbox

import (
	"context"
	"errors"

	"parley/plugins/manifest"
)

// take finds an instance that c may use, or makes one.
func (m *Module) take(ctx context.Context, c Call) (i *instance, fresh bool, err error) {
	if i := m.kept(c); i != nil {
		return i, false, nil
	}
	wait, done := context.WithTimeout(ctx, m.host.wait)
	defer done()
	select {
	case m.host.slots <- struct{}{}:
	case <-wait.Done():
		if ctx.Err() != nil {
			return nil, false, fault(Gone, "the caller gave up")
		}
		return nil, false, fault(Busy, "all %d instances of plugins are at work, and none was free within %v", cap(m.host.slots), m.host.wait)
	}
	i, err = m.instantiate(c)
	if err != nil {
		<-m.host.slots
		var f *Fault
		if !errors.As(err, &f) {
			err = fault(Busy, "%v", err)
		}
		return nil, false, err
	}
	return i, true, nil
}

// kept is an idle instance that c may meet; nil where there is none.
func (m *Module) kept(c Call) *instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := len(m.idle) - 1; n >= 0; n-- {
		if i := m.idle[n]; i.of == m.ownerOf(c) {
			m.idle = append(m.idle[:n], m.idle[n+1:]...)
			return i
		}
	}
	return nil
}

// ownerOf says who may meet an instance that c has used.
func (m *Module) ownerOf(c Call) owner {
	if m.manifest.Reuse == manifest.ReuseAny {
		return owner{account: c.Account}
	}
	return owner{c.Account, c.Chat}
}

// giveBack keeps an instance for the next, or ends it.
func (m *Module) giveBack(i *instance, good bool) {
	if good && !m.command && m.manifest.Reuse != manifest.ReuseNone && !i.mod.IsClosed() {
		m.mu.Lock()
		if !m.closed {
			i.of = m.ownerOf(Call{Account: i.of.account, Chat: i.of.chat})
			m.idle = append(m.idle, i)
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
	}
	i.close()
}
