package shelf

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parley/plugins/sandbox"
)

// errReplaced says that a module was replaced by another before it was called.
var errReplaced = errors.New("the plugin was changed just now")

// module is a plugin's module, loaded when it is first wanted and closed when it
// was replaced and the last call has ended.
type module struct {
	load func(context.Context) (*sandbox.Module, error)

	mu      sync.Mutex
	ready   chan struct{} // closed when loading has ended; nil before it began
	loaded  *sandbox.Module
	err     error
	callers int
	closed  bool
}

func newModule(load func(context.Context) (*sandbox.Module, error)) *module {
	return &module{load: load}
}

// acquire returns the module, which the caller releases. It waits until it is
// loaded; what it is loaded for by one serves all, so nobody's ctx ends that.
func (m *module) acquire(ctx context.Context) (*sandbox.Module, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, errReplaced
	}
	m.callers++
	if m.ready == nil {
		m.ready = make(chan struct{})
		m.callers++ // of the loading
		go m.fill()
	}
	ready := m.ready
	m.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
		m.leave()
		return nil, context.Cause(ctx)
	}
	if m.err != nil {
		m.leave()
		return nil, m.err
	}
	return m.loaded, nil
}

// fill loads the module. It runs on a goroutine of its own, where a panic would end
// the box, at each start again.
func (m *module) fill() {
	defer m.leave()
	defer close(m.ready)
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("the plugin cannot be loaded: the box failed inside: %v", p)
		}
	}()
	m.loaded, m.err = m.load(context.Background())
}

func (m *module) release(*sandbox.Module) { m.leave() }

// leave notes that one caller less is there, and closes what nobody wants.
func (m *module) leave() {
	m.mu.Lock()
	m.callers--
	over := m.closed && m.callers == 0
	m.mu.Unlock()
	if over {
		m.end()
	}
}

// close has the module closed when the last call has ended.
func (m *module) close() {
	m.mu.Lock()
	over := !m.closed && m.callers == 0
	m.closed = true
	m.mu.Unlock()
	if over {
		m.end()
	}
}

func (m *module) end() {
	if m.loaded != nil {
		_ = m.loaded.Close(context.Background())
	}
}
