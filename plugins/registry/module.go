package registry

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"parley/plugins/sandbox"
)

// errReplaced means that a module was replaced before it was called.
var errReplaced = errors.New("the plugin has just been changed")

// module is the module of a plugin. It is loaded at its first use, and closed when it was
// replaced and the last call has ended.
type module struct {
	start  func()        // starts loading, once
	ready  chan struct{} // closed when loading has ended
	loaded *sandbox.Module
	err    error

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // running calls, and the loading
}

func newModule(load func(context.Context) (*sandbox.Module, error)) *module {
	m := &module{ready: make(chan struct{})}
	m.start = sync.OnceFunc(func() { m.users.Go(func() { m.load(load) }) })
	return m
}

// acquire returns the module, which the caller releases. It waits until the module is
// loaded or ctx ends. The loading goes on if ctx ends, because it serves all callers.
func (m *module) acquire(ctx context.Context) (*sandbox.Module, error) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, errReplaced
	}
	m.users.Add(1)
	m.start()
	m.mu.Unlock()
	var err error
	select {
	case <-m.ready:
		err = m.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		m.release()
		return nil, err
	}
	return m.loaded, nil
}

func (m *module) release() { m.users.Done() }

// load loads the module. It runs on its own goroutine, where a panic would end the box,
// again after each start.
func (m *module) load(load func(context.Context) (*sandbox.Module, error)) {
	defer close(m.ready)
	defer func() {
		if p := recover(); p != nil {
			m.err = fmt.Errorf("the plugin cannot be loaded because of an internal error: %v", p)
		}
	}()
	m.loaded, m.err = load(context.Background())
}

// close waits until the last call has ended, and closes the module.
func (m *module) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.users.Wait()
	if m.loaded != nil {
		_ = m.loaded.Close(context.Background())
		m.loaded = nil
	}
}
