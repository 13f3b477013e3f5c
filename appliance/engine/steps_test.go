package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepsLetOthersInBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		ctx, cancel := context.WithCancel(t.Context())
		s := g.Steps(ctx, nil)
		next := func() {
			t.Helper()
			if err := s.Next(); err != nil {
				t.Fatal(err)
			}
		}
		next()
		entered := make(chan struct{})
		go func() {
			leave, _ := g.Enter(t.Context(), Live.Urgency(), 1)
			close(entered)
			leave()
		}()
		synctest.Wait()
		next()
		select {
		case <-entered:
			t.Fatal("the core was given back after no time")
		default:
		}
		time.Sleep(maxStepsHeld)
		next()
		<-entered
		cancel()
		if s.Next() == nil {
			t.Error("steps go on after their context")
		}
		s.Release()
		if g.free != 1 {
			t.Error("the core was not released")
		}
		if err := (*Gate)(nil).Steps(t.Context(), nil).Next(); err != nil {
			t.Error(err)
		}
	})
}
