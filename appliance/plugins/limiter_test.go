package plugins

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"parley/plugins/sandbox"
)

func TestNoMoreAreAtWorkThanThereArePlaces(t *testing.T) {
	p := &Plugins{limiter: semaphore.NewWeighted(maxConcurrentCalls)}
	begun, hold := make(chan struct{}, maxConcurrentCalls), make(chan struct{})
	var working sync.WaitGroup
	for range maxConcurrentCalls {
		working.Go(func() {
			if _, err := p.call(t.Context(), func() (r sandbox.Result, err error) {
				begun <- struct{}{}
				<-hold
				return r, nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxConcurrentCalls {
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := p.call(ctx, func() (r sandbox.Result, err error) {
		t.Error("one more is run than there are places")
		return r, nil
	}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more than there are places: %v", err)
	}
	close(hold)
	working.Wait()
	if _, err := p.call(t.Context(), func() (r sandbox.Result, err error) { return r, nil }); err != nil {
		t.Errorf("when the others have ended: %v", err)
	}
}
