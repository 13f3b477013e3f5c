package speech

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"parley/appliance/contract"
)

// enters asks for a turn on a goroutine, once its place in the queue is taken, and
// notes its name when it has it.
func enters(t *testing.T, s *turnstile, account string, in chan string) {
	t.Helper()
	s.mu.Lock()
	waiting := s.waiting
	s.mu.Unlock()
	go func() {
		if _, err := s.enter(context.Background(), account); err != nil {
			t.Error(err)
		}
		in <- account
	}()
	for {
		s.mu.Lock()
		now := s.waiting
		s.mu.Unlock()
		if now > waiting {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestTurnsGoToTheAccountWithTheFewest(t *testing.T) {
	s := newTurnstile(2, 0, 10, 8, time.Minute)
	first, err1 := s.enter(t.Context(), "many")
	second, err2 := s.enter(t.Context(), "many")
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	in := make(chan string, 10)
	enters(t, s, "many", in)
	enters(t, s, "many", in)
	enters(t, s, "one", in)
	first()
	if got := <-in; got != "one" {
		t.Errorf("the turn goes to %s", got)
	}
	second()
	first() // again: nothing
	if got := <-in; got != "many" {
		t.Errorf("the next goes to %s", got)
	}
	if s.running != 2 || s.waiting != 1 {
		t.Errorf("%d are spoken and %d wait", s.running, s.waiting)
	}
}

func TestOneAccountDoesNotTakeEveryPlace(t *testing.T) {
	s := newTurnstile(2, 1, 1, 8, 20*time.Millisecond)
	enter := func(account string) func() {
		t.Helper()
		leave, err := s.enter(t.Context(), account)
		if err != nil {
			t.Fatalf("%s: %v", account, err)
		}
		return leave
	}
	enter("many")
	enter("many")
	s.longest = time.Minute
	enters(t, s, "many", make(chan string, 1)) // and nobody else may wait
	leave := enter("one")
	var tooMany contract.ErrTooMany
	for _, account := range []string{"one", "another"} {
		if _, err := s.enter(t.Context(), account); !errors.As(err, &tooMany) {
			t.Errorf("%s, when the place that was kept is taken: %v", account, err)
		}
	}
	leave()
	if s.running != 2 || s.waiting != 1 {
		t.Errorf("the account that has many was given the place that is kept: %d are spoken and %d wait", s.running,
			s.waiting)
	}
	enter("another")
}

func TestWhoWaitsInVainLeavesNothingBehind(t *testing.T) {
	s := newTurnstile(1, 0, 2, 2, 20*time.Millisecond)
	leave, err := s.enter(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var tooMany contract.ErrTooMany
	if _, err := s.enter(t.Context(), "a"); !errors.As(err, &tooMany) || tooMany.RetryAfter == 0 {
		t.Errorf("after the longest wait: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.enter(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("of who is gone: %v", err)
	}
	s.longest = time.Minute
	in := make(chan string, 2)
	enters(t, s, "a", in)
	if _, err := s.enter(t.Context(), "a"); !errors.As(err, &tooMany) {
		t.Errorf("of one account too many: %v", err)
	}
	enters(t, s, "b", in)
	if _, err := s.enter(t.Context(), "c"); !errors.As(err, &tooMany) {
		t.Errorf("of all too many: %v", err)
	}
	leave()
	if got := <-in; got != "a" && got != "b" {
		t.Error(got)
	}
	if accounts := len(s.of); accounts != 2 || s.waiting != 1 {
		t.Errorf("%d accounts, %d wait", accounts, s.waiting)
	}
}

func TestSeedsOfOneGenerationAreNotAlike(t *testing.T) {
	var all []int64
	for snippet := range 50 {
		for try := range 2 {
			all = append(all, seedOf(7, snippet, try))
		}
	}
	slices.Sort(all)
	if again := seedOf(7, 3, 1); len(slices.Compact(all)) != 100 || !slices.Contains(all, again) {
		t.Error(all)
	}
}
