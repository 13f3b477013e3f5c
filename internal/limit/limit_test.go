package limit

import (
	"context"
	"errors"
	"testing"
	"time"
)

// enters acquires a slot on a goroutine, after taking a position in the queue, and
// records its name when it has the slot.
func enters(t *testing.T, s *Limiter[string], account string, in chan string) {
	t.Helper()
	s.mu.Lock()
	waiting := len(s.queue)
	s.mu.Unlock()
	go func() {
		if _, err := s.Acquire(context.Background(), account); err != nil {
			t.Error(err)
		}
		in <- account
	}()
	for {
		s.mu.Lock()
		now := len(s.queue)
		s.mu.Unlock()
		if now > waiting {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAccountWithTheFewestActiveIsNext(t *testing.T) {
	s := New[string](Rule{MaxActive: 2, MaxWaiting: 10, MaxPerKeyTotal: 8, MaxWait: time.Minute})
	first, err1 := s.Acquire(t.Context(), "many")
	second, err2 := s.Acquire(t.Context(), "many")
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
	if s.active != 2 || len(s.queue) != 1 {
		t.Errorf("%d are spoken and %d wait", s.active, len(s.queue))
	}
}

func TestOneAccountDoesNotTakeEverySlot(t *testing.T) {
	s := New[string](Rule{MaxActive: 2, Reserved: 1, MaxWaiting: 1, MaxPerKeyTotal: 8, MaxWait: 20 * time.Millisecond})
	enter := func(account string) func() {
		t.Helper()
		leave, err := s.Acquire(t.Context(), account)
		if err != nil {
			t.Fatalf("%s: %v", account, err)
		}
		return leave
	}
	enter("many")
	enter("many")
	s.MaxWait = time.Minute
	enters(t, s, "many", make(chan string, 1)) // and no one else may wait
	leave := enter("one")
	for _, account := range []string{"one", "another"} {
		if _, err := s.Acquire(t.Context(), account); err != ErrFull {
			t.Errorf("%s, when the reserved slot is taken: %v", account, err)
		}
	}
	leave()
	if s.active != 2 || len(s.queue) != 1 {
		t.Errorf("the account that has many got the reserved slot: %d are active and %d wait", s.active,
			len(s.queue))
	}
	enter("another")
}

func TestFailedAcquireLeavesNothingBehind(t *testing.T) {
	s := New[string](Rule{MaxActive: 1, MaxWaiting: 2, MaxPerKeyTotal: 2, MaxWait: 20 * time.Millisecond})
	leave, err := s.Acquire(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context(), "a"); err != ErrTimeout {
		t.Errorf("after the longest wait: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Acquire(ctx, "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.MaxWait = time.Minute
	in := make(chan string, 2)
	enters(t, s, "a", in)
	if _, err := s.Acquire(t.Context(), "a"); err != ErrPerKey {
		t.Errorf("of one account too many: %v", err)
	}
	enters(t, s, "b", in)
	if _, err := s.Acquire(t.Context(), "c"); err != ErrFull {
		t.Errorf("of all too many: %v", err)
	}
	leave()
	if got := <-in; got != "a" && got != "b" {
		t.Error(got)
	}
	if accounts := len(s.perKey); accounts != 1 || len(s.queue) != 1 {
		t.Errorf("%d accounts, %d wait", accounts, len(s.queue))
	}
}

func TestTryAcquireDoesNotWait(t *testing.T) {
	l := New[string](Rule{MaxActive: 3, MaxPerKey: 2})
	try := func(who string, want error) func() {
		t.Helper()
		leave, err := l.TryAcquire(who)
		if err != want {
			t.Errorf("%s: %v, want %v", who, err, want)
		}
		return leave
	}
	leave := try("a", nil)
	try("a", nil)
	try("a", ErrPerKey)
	try("b", nil)
	try("c", ErrFull)
	if _, err := l.TryAcquireWithin("c", 4, 0); err != nil {
		t.Error("with a higher limit: ", err)
	}
	leave()
	leave() // again: nothing
	try("c", ErrFull)
	if l.Active() != 3 || len(l.perKey) != 3 {
		t.Errorf("%d are in, of %d", l.Active(), len(l.perKey))
	}
}
