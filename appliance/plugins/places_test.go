package plugins

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestNoMoreAreAtWorkThanThereArePlaces(t *testing.T) {
	p := make(places, pluginPlaces)
	begun, hold := make(chan struct{}, pluginPlaces), make(chan struct{})
	var working sync.WaitGroup
	for range pluginPlaces {
		working.Go(func() {
			if err := p.Do(t.Context(), func() { begun <- struct{}{}; <-hold }); err != nil {
				t.Error(err)
			}
		})
	}
	for range pluginPlaces {
		<-begun
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.Do(ctx, func() {
		t.Error("one more is run than there are places")
	}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more than there are places: %v", err)
	}
	close(hold)
	working.Wait()
	if err := p.Do(t.Context(), func() {}); err != nil {
		t.Errorf("when the others have ended: %v", err)
	}
}
