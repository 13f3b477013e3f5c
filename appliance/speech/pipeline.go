package speech

import (
	"context"
	"fmt"
	"runtime/debug"
)

// pipeline runs produce in a goroutine and passes each of its values to take in the caller's
// goroutine, in order. While one value is taken, the next is produced, and no more than that
// one. pipeline returns when both are done, with the first error of either; when take fails,
// produce is cancelled. A panic of produce is passed on to the caller.
func pipeline[T any](ctx context.Context, produce func(ctx context.Context, give func(T) error) error,
	take func(T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	made, over := make(chan T), make(chan error, 1)
	var panicked any
	go func() {
		defer close(made)
		defer func() {
			if p := recover(); p != nil {
				panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
				over <- nil
			}
		}()
		over <- produce(ctx, func(product T) error {
			select {
			case made <- product:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	var failed error
	for product := range made {
		if failed != nil {
			continue // the producer is ending
		}
		if failed = take(product); failed != nil {
			cancel(failed)
		}
	}
	err := <-over
	if panicked != nil {
		panic(panicked)
	}
	if failed != nil {
		return failed
	}
	return err
}
