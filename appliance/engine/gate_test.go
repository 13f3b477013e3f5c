package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestLargeRequestIsNotStarvedBySmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		one, _ := g.Enter(t.Context(), Live.Urgency(), 1)
		entered := make(chan int, 2)
		for _, cores := range []int{2, 1} {
			go func() {
				leave, _ := g.Enter(t.Context(), Live.Urgency(), cores)
				entered <- cores
				leave()
			}()
			synctest.Wait()
		}
		if len(entered) != 0 {
			t.Fatal("a small request overtook a large one")
		}
		one()
		if first := <-entered; first != 2 {
			t.Fatalf("the request for %d cores came first", first)
		}
	})
}

func TestGivingUpLeavesTheCoresToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		leave, _ := g.Enter(t.Context(), Live.Urgency(), 2)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		failed := make(chan error)
		go func() { _, err := g.Enter(ctx, Live.Urgency(), 2); failed <- err }()
		synctest.Wait()
		cancel(gone)
		if err := <-failed; !errors.Is(err, gone) {
			t.Fatalf("gave up with %v", err)
		}
		leave()
		leave() // twice does no harm
		all, err := g.Enter(t.Context(), Batch.Urgency(), 2)
		if err != nil {
			t.Fatal(err)
		}
		all()
		if g.free != 2 {
			t.Fatalf("%d of 2 cores are free", g.free)
		}
	})
}

func TestGateNeverGivesOutMoreCoresThanThereAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(1, 5).Draw(t, "cores")
		g := NewGate(cores)
		var used atomic.Int64
		var all sync.WaitGroup
		for range rapid.IntRange(1, 12).Draw(t, "callers") {
			want := rapid.IntRange(0, 8).Draw(t, "want")
			p := Priority(rapid.IntRange(int(Batch), int(Live)).Draw(t, "priority"))
			ctx, cancel := context.WithCancel(context.Background())
			if rapid.Bool().Draw(t, "gives up") {
				cancel()
			}
			all.Go(func() {
				defer cancel()
				for range 20 {
					leave, err := g.Enter(ctx, p.Urgency(), want)
					if err != nil {
						return
					}
					n := int64(min(max(want, 1), cores))
					if used.Add(n) > int64(cores) {
						t.Errorf("more than %d cores are in use", cores)
					}
					used.Add(-n)
					leave()
				}
			})
		}
		all.Wait()
		if g.free != cores {
			t.Fatalf("%d of %d cores came back", g.free, cores)
		}
	})
}

func TestTheGateTellsWhoWaitsAndHowLongTheyWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		told := make(chan Passage, 2)
		g.Observe(func(p Passage) { told <- p })
		first, err := g.Enter(t.Context(), Batch.Urgency(), 2)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			leave, err := g.Enter(t.Context(), Live.Urgency(), 1)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Second)
			leave()
		}()
		time.Sleep(3 * time.Second)
		if busy, waiting := g.Load(); busy != 2 || waiting != [Live + 1]int{Live: 1} {
			t.Errorf("%d cores busy, waiting %v", busy, waiting)
		}
		first()
		time.Sleep(2 * time.Second)
		if busy, waiting := g.Load(); busy != 0 || waiting != [Live + 1]int{} {
			t.Errorf("afterwards %d cores busy, waiting %v", busy, waiting)
		}
		for _, want := range []Passage{{Batch, 2, 0, 3 * time.Second}, {Live, 1, 3 * time.Second, time.Second}} {
			if got := <-told; got != want {
				t.Errorf("told %v, want %v", got, want)
			}
		}
	})
}

// Work that panics gives its cores back on the way.
func TestAPanicCostsNoCores(t *testing.T) {
	g := NewGate(2)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = g.Do(t.Context(), Live.Urgency(), 2, func() error { panic("broken") })
	}()
	if busy, _ := g.Load(); busy != 0 {
		t.Errorf("%d cores are still given out", busy)
	}
}
