package sandbox

import (
	"context"
	"errors"
)

// run runs the call. It stops the instance when the call's time is up. After run has
// returned without an error, the instance is not stopped any more.
func (i *instance) run(r *callContext) (content string, err error) {
	fresh := i.mod == nil
	if fresh {
		if err := i.open(r); err != nil {
			return "", err
		}
	}
	unwatch := context.AfterFunc(r, func() { i.halt.Set(1) })
	defer func() {
		if !unwatch() && err == nil {
			err = r.Err()
		}
	}()
	if fresh {
		if err := i.begin(r); err != nil {
			return "", err
		}
	}
	if i.module.command {
		return i.command(r)
	}
	return i.extism(r)
}

// begin runs the start function of the module.
func (i *instance) begin(r *callContext) error {
	if i.module.instrumentation.start == "" {
		return nil
	}
	_, err := i.enter(r, i.module.instrumentation.start)
	if err != nil && r.Err() == nil && !errors.As(err, new(*Fault)) {
		return r.trapped(i.module.manifest.Name+" cannot be started: ", err)
	}
	return err
}
