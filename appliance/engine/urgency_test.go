package engine

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// entering lets work with each of the urgencies wait, in order, for all cores of g, which are in
// use. let releases the cores and returns the order in which the work entered.
func entering(t *testing.T, g *Gate, meanwhile func(), all ...*Urgency) (order []int) {
	t.Helper()
	leave, err := g.Enter(t.Context(), nil, g.Cores())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var waiting sync.WaitGroup
	for i, u := range all {
		waiting.Go(func() {
			leave, err := g.Enter(t.Context(), u, g.Cores())
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, i)
			mu.Unlock()
			leave()
		})
		synctest.Wait()
	}
	meanwhile()
	leave()
	waiting.Wait()
	return order
}

func wantOrder(t *testing.T, got []int, want ...int) {
	t.Helper()
	for i := range want {
		if len(got) != len(want) || got[i] != want[i] {
			t.Fatalf("entered in order %v, want %v", got, want)
		}
	}
}

func TestWhatIsDueFirstEntersFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		got := entering(t, NewGate(2), func() {},
			Batch.Urgency(),    // 0
			Prefetch.Urgency(), // 1
			// 2: a sentence that is due when another has been played
			NewUrgency(Live, now.Add(3*time.Second)),
			NewUrgency(Speculative, now.Add(700*time.Millisecond)),   // 3: a guess whose silence ends sooner
			NewUrgency(Request, now.Add(2*time.Second-requestDelay)), // 4: late
			Live.Urgency(), // 5
			NewUrgency(Live, now.Add(-200*time.Millisecond)),        // 6: late
			NewUrgency(Speculative, now.Add(-100*time.Millisecond)), // 7
		)
		wantOrder(t, got, 6, 7, 5, 3, 4, 2, 1, 0)
	})
}

func TestAGuessThatBecomesATurnIsPromotedWhereItStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		guess := NewUrgency(Speculative, now.Add(5*time.Second))
		prefetch := Prefetch.Urgency()
		got := entering(t, NewGate(2), func() {
			time.Sleep(10 * time.Millisecond)
			guess.Set(Live, now)
			prefetch.Set(Batch, time.Time{})
		}, NewUrgency(Live, now.Add(time.Second)), prefetch, guess, Prefetch.Urgency(), Batch.Urgency())
		wantOrder(t, got, 2, 0, 3, 1, 4)
	})
}

func TestAFreeCoreGoesToWorkThatCanUseIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2)
		one, _ := g.Enter(t.Context(), Live.Urgency(), 1)
		cores, leave, err := g.EnterSome(t.Context(), Live.Urgency(), 1, 2)
		if err != nil || cores != 1 {
			t.Fatalf("%d cores, %v", cores, err)
		}
		one()
		leave()
		if cores, leave, err = g.EnterSome(t.Context(), Live.Urgency(), 1, 2); err != nil || cores != 2 {
			t.Fatalf("%d cores, %v", cores, err)
		}
		leave()
		if busy, _ := g.Load(); busy != 0 {
			t.Errorf("%d cores are still out", busy)
		}
	})
}

func TestUrgencyMayChangeWhileManyWait(t *testing.T) {
	g := NewGate(2)
	all := make([]*Urgency, 20)
	var working sync.WaitGroup
	for i := range all {
		all[i] = Speculative.Urgency()
	}
	for i := range all {
		working.Go(func() {
			for range 50 {
				if _, leave, err := g.EnterSome(t.Context(), all[i], 1, 2); err == nil {
					leave()
				}
			}
		})
		working.Go(func() {
			for n := range 50 {
				all[(i+n)%len(all)].Set(Priority(n%5), time.Now())
			}
		})
	}
	working.Wait()
	if busy, waiting := g.Load(); busy != 0 || waiting != [Live + 1]int{} {
		t.Errorf("%d busy, %v wait", busy, waiting)
	}
	for _, u := range all {
		if len(u.watchers) > 0 {
			t.Error("a watcher remains")
		}
	}
}
