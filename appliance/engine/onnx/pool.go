package onnx

import "errors"

// pool keeps a few workspaces that the calls of an engine reuse, so that a call allocates no
// buffers, and Close, not a finalizer, releases what the C library holds.
type pool[W interface{ Close() error }] struct {
	idle chan W
	make func() (W, error)
}

// newPool returns a pool of up to keep idle workspaces, as many as can be in use at once.
func newPool[W interface{ Close() error }](keep int, build func() (W, error)) *pool[W] {
	return &pool[W]{idle: make(chan W, keep), make: build}
}

// use calls work with a workspace. After a panic the workspace is not reused, because its state is
// unknown.
func (p *pool[W]) use(work func(W) error) error {
	w, err := p.get()
	if err != nil {
		return err
	}
	err = work(w)
	return errors.Join(err, p.put(w))
}

// get returns an idle workspace or a new one.
func (p *pool[W]) get() (W, error) {
	select {
	case w := <-p.idle:
		return w, nil
	default:
		return p.make()
	}
}

// put returns a workspace to the pool, or closes it if the pool is full.
func (p *pool[W]) put(w W) error {
	select {
	case p.idle <- w:
		return nil
	default:
		return w.Close()
	}
}

// Close closes the idle workspaces. None may be in use.
func (p *pool[W]) Close() error {
	var errs []error
	for {
		select {
		case w := <-p.idle:
			errs = append(errs, w.Close())
		default:
			return errors.Join(errs...)
		}
	}
}
