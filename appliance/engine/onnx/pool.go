package onnx

import "errors"

// pool keeps the few workspaces that an engine's calls use by turns, so that a
// call makes no buffers anew and what the C library holds is given back by
// Close, not by a finalizer.
type pool[W interface{ Close() error }] struct {
	idle chan W
	make func() (W, error)
}

// newPool returns a pool that keeps up to keep idle workspaces: as many as can
// be at work at once.
func newPool[W interface{ Close() error }](keep int, build func() (W, error)) *pool[W] {
	return &pool[W]{idle: make(chan W, keep), make: build}
}

// use gives a workspace to work, and takes it back. After a panic it does not:
// nobody knows in which state the workspace is.
func (p *pool[W]) use(work func(W) error) error {
	w, err := p.get()
	if err != nil {
		return err
	}
	err = work(w)
	return errors.Join(err, p.put(w))
}

// get hands out an idle workspace or a new one.
func (p *pool[W]) get() (W, error) {
	select {
	case w := <-p.idle:
		return w, nil
	default:
		return p.make()
	}
}

// put takes a workspace back; one too many is closed.
func (p *pool[W]) put(w W) error {
	select {
	case p.idle <- w:
		return nil
	default:
		return w.Close()
	}
}

// Close closes the idle workspaces. None may be out.
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
