package speech

import (
	"context"
	"fmt"
	"runtime/debug"
)

// pipeline has things produced by one goroutine and taken by its caller, in order: the next
// is made while one is taken, and no more than that one. It returns when both are
// over, with the first error of either; what is being made when taking fails is given
// up. A panic of the maker is the caller's.
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
		over <- produce(ctx, func(one T) error {
			select {
			case made <- one:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	var failed error
	for one := range made {
		if failed != nil {
			continue // it is ending
		}
		if failed = take(one); failed != nil {
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
