package engine

import (
	"context"
	"errors"
	"slices"
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
		leave() // calling it twice does no harm
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

func TestTheGateReportsLoadAndWaitingTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		passages := make(chan Passage, 2)
		g.Observe(func(p Passage) { passages <- p })
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
			if got := <-passages; got != want {
				t.Errorf("observed %v, want %v", got, want)
			}
		}
	})
}

// A panic releases the cores.
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

// Restartable work yields to work that is due sooner, and to nothing else, and completes when it is
// the oldest.
func TestLongWorkGivesWayToMoreUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		var tries atomic.Int32
		done := make(chan error, 1)
		go func() {
			done <- g.DoRestartable(t.Context(), Request.Urgency(), 2, 0, func(ctx context.Context) error {
				tries.Add(1)
				return cancellable(time.Second)(ctx)
			})
		}()
		time.Sleep(100 * time.Millisecond)
		later := NewUrgency(Live, time.Now().Add(time.Hour))
		go func() { _ = g.Do(t.Context(), later, 2, func() error { return nil }) }()
		synctest.Wait()
		if tries.Load() != 1 {
			t.Fatal("the work yielded to work that is due in an hour")
		}
		begun := time.Now()
		_ = g.Do(t.Context(), Live.Urgency(), 2, func() error { time.Sleep(50 * time.Millisecond); return nil })
		if waited := time.Since(begun) - 50*time.Millisecond; waited != 0 || tries.Load() != 1 {
			t.Errorf("a turn waited for %v, in try %d", waited, tries.Load())
		}
		if err := <-done; err != nil || tries.Load() != 2 {
			t.Errorf("after %d tries: %v", tries.Load(), err)
		}
		synctest.Wait() // the work that is due in an hour is next now
		if g.free != 2 || len(g.loans) != 0 {
			t.Errorf("%d cores are free, %d lent", g.free, len(g.loans))
		}
	})
}

// A long overdue clip of a slow voice yields to a conversation until it is requestDelay late; then
// it runs once, and the conversation waits for that one call.
func TestConversationsComeBeforeALateRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const call = 2 * time.Second
		g := NewGate(2)
		begun := time.Now()
		bulk := NewUrgency(Request, begun.Add(-time.Second)) // its playback has run dry
		done := make(chan time.Duration, 1)
		go func() {
			err := g.DoRestartable(t.Context(), bulk, 2, 0, cancellable(call))
			if err != nil {
				t.Error(err)
			}
			done <- time.Since(begun)
		}()
		var waited []time.Duration // clauses of a conversation, one each second
		for i := range 20 {
			time.Sleep(time.Until(begun.Add(time.Duration(i)*time.Second + 500*time.Millisecond)))
			u := Live.Urgency()
			if i%2 == 1 {
				// a guess whose silence is nearly over
				u = NewUrgency(Speculative, time.Now().Add(200*time.Millisecond))
			}
			asked := time.Now()
			_ = g.Do(t.Context(), u, 2, func() error { waited = append(waited, time.Since(asked)); return nil })
			if i < 8 && waited[i] != 0 {
				t.Errorf("clause %d waited for %v behind late text-to-speech", i, waited[i])
			}
		}
		if through := <-done; through > requestDelay+call {
			t.Errorf("the request came through after %v", through)
		}
		if most := slices.Max(waited); most > call {
			t.Errorf("a clause waited for %v, longer than one call takes", most)
		}
	})
}

// An older request that needs the cores piece by piece, with gaps between, does not restart a long
// one in each gap forever; a conversation still goes first.
func TestRestartableWorkCompletesBetweenThePiecesOfOtherWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const call, piece, gap = time.Second, 100 * time.Millisecond, 400 * time.Millisecond
		g := NewGate(2)
		begun := time.Now()
		old := NewUrgency(Request, begun.Add(-time.Minute))
		ended := make(chan struct{})
		go func() {
			for range 40 {
				_ = g.Do(t.Context(), old, 2, during(piece))
				time.Sleep(gap)
			}
			close(ended)
		}()
		time.Sleep(10 * time.Millisecond)
		tries := 0
		err := g.DoRestartable(t.Context(), Request.Urgency(), 2, call, func(ctx context.Context) error {
			if tries++; tries == 4 { // it has lost 1.2 s by now
				go func() {
					time.Sleep(50 * time.Millisecond)
					asked := time.Now()
					_ = g.Do(t.Context(), Live.Urgency(), 2, during(piece))
					if waited := time.Since(asked) - piece; waited != 0 {
						t.Errorf("a conversation waited for %v", waited)
					}
				}()
			}
			return cancellable(call)(ctx)
		})
		if took := time.Since(begun); err != nil || tries != 5 || took > 5*time.Second {
			t.Errorf("the work ran after %v and %d tries: %v", took, tries, err)
		}
		<-ended
	})
}

// during returns work of this duration that ignores its context.
func during(long time.Duration) func() error {
	return func() error { time.Sleep(long); return nil }
}

// cancellable returns work of this duration that ends with its context.
func cancellable(long time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(long):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// The first sound of a request does not wait for another request's passage of seconds, which still
// completes, even if there are such requests all the time.
func TestAShortRequestGoesBeforeALongOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long, short = 3 * time.Second, 50 * time.Millisecond
		g := NewGate(2)
		begun := time.Now()
		done := make(chan time.Duration, 1)
		go func() {
			err := g.DoRestartable(t.Context(), Request.Urgency(), 2, long, cancellable(long))
			if err != nil {
				t.Error(err)
			}
			done <- time.Since(begun)
		}()
		var waited []time.Duration
		for i := range 20 {
			time.Sleep(time.Until(begun.Add(time.Duration(i)*time.Second + 900*time.Millisecond)))
			asked := time.Now()
			_ = g.Do(t.Context(), Request.Urgency(), 2, func() error {
				waited = append(waited, time.Since(asked))
				time.Sleep(short)
				return nil
			})
		}
		for i, w := range waited[:3] {
			if w != 0 {
				t.Errorf("the request at %d.9 s waited for %v", i, w)
			}
		}
		if most := slices.Max(waited); most > long {
			t.Errorf("a short request waited for %v", most)
		}
		if through := <-done; through > 2*long+time.Second {
			t.Errorf("the long one came through after %v", through)
		}
	})
}

// Work that yields once delays nobody who arrives during its first attempt, and completes although
// another caller needs the cores again and again.
func TestWorkThatYieldsOnceCompletes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece, step = 40 * time.Millisecond, 100 * time.Millisecond
		g := NewGate(2)
		begun := time.Now()
		done := make(chan time.Duration, 1)
		go func() {
			for range 3 {
				err := g.DoRestartableOnce(t.Context(), Request.Urgency(), 2, cancellable(piece))
				if err != nil {
					t.Error(err)
				}
			}
			done <- time.Since(begun)
		}()
		var waited time.Duration
		for range 10 {
			time.Sleep(time.Millisecond)
			asked := time.Now()
			_ = g.Do(t.Context(), Live.Urgency(), 2, func() error {
				waited += time.Since(asked)
				time.Sleep(step)
				return nil
			})
		}
		if most := 3 * piece; waited > most {
			t.Errorf("the steps waited for %v in all, want %v at most", waited, most)
		}
		if took := <-done; took > 3*(2*(step+piece)) {
			t.Errorf("three pieces took %v", took)
		}
	})
}

func TestLongWorkThatFailsIsNotDoneAgain(t *testing.T) {
	g := NewGate(1)
	wrong, tries := errors.New("wrong"), 0
	if err := g.DoRestartable(t.Context(), nil, 1, 0, func(context.Context) error {
		tries++
		return wrong
	}); !errors.Is(err, wrong) || tries != 1 {
		t.Errorf("%d tries: %v", tries, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := g.DoRestartable(ctx, nil, 1, 0, func(context.Context) error { cancel(wrong); return errRecalled })
	if err == nil || tries != 1 {
		t.Errorf("work whose caller is gone: %v", err)
	}
}
