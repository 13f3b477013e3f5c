package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// Batch begins when no work with a deadline has held cores for a while, not in the gap between two
// pieces of a turn.
func TestBatchDoesNotBeginBetweenThePiecesOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		enter := func(u *Urgency, cores int) func() {
			leave, err := g.Enter(t.Context(), u, cores)
			if err != nil {
				t.Error(err)
				return func() {}
			}
			return leave
		}
		leave := enter(Live.Urgency(), 1)
		begun, batch := time.Now(), time.Duration(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer enter(nil, 1)()
			batch = time.Since(begun)
		}()
		for range 10 { // pieces with gaps, and a free core beside each
			time.Sleep(50 * time.Millisecond)
			leave()
			time.Sleep(5 * time.Millisecond)
			asked := time.Now()
			leave = enter(Live.Urgency(), 1)
			if waited := time.Since(asked); waited > 0 {
				t.Errorf("a piece of a turn waited %v", waited)
			}
		}
		ended := time.Since(begun)
		leave()
		<-done
		if want := ended + batchDelay; batch != want {
			t.Errorf("batch began after %v, want %v", batch, want)
		}
		defer enter(nil, 2)() // at once: nothing else wants the cores
	})
}
