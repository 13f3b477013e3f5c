package api

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/appliance/contract"
)

func TestOneAccountHasTwoSearchesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSearchLimiter()
		var running, most, done, refused atomic.Int32
		var all sync.WaitGroup
		search := func() {
			leave, err := s.enter(t.Context(), "one")
			if err != nil {
				if e, ok := errors.AsType[contract.ErrTooMany](err); !ok || e.Wait() <= 0 {
					t.Error(err)
				}
				refused.Add(1)
				return
			}
			defer leave()
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			done.Add(1)
		}
		for range 20 {
			all.Go(search)
		}
		synctest.Wait()
		if running.Load() != searchesPerAccount || refused.Load() != 20-searchesPerAccount-maxWaitingSearches {
			t.Errorf("%d run, %d are refused at once", running.Load(), refused.Load())
		}
		leave, err := s.enter(t.Context(), "two")
		if err != nil {
			t.Fatal("another account: ", err)
		}
		leave()
		all.Wait()
		// All that waited have had their turn, two at a time.
		if most.Load() != searchesPerAccount || done.Load() != searchesPerAccount+maxWaitingSearches ||
			s.Active() != 0 {
			t.Errorf("%d at most, %d done, %d are left", most.Load(), done.Load(), s.Active())
		}
	})
}

func TestASearchWaitsWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSearchLimiter()
		for range searchesPerAccount {
			if _, err := s.enter(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
		}
		begun := time.Now()
		if _, err := s.enter(t.Context(), "one"); time.Since(begun) != maxSearchWait {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.enter(ctx, "one"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without its client: %v", err)
		}
	})
}

// While one account runs all the searches that it may, other accounts' searches
// and its own other requests are answered.
func TestSearchesOfOneAccountDoNotDelayOthers(t *testing.T) {
	clients := startRest(t, "home", "work")
	home, work := clients[0], clients[1]
	var leave []func()
	for range searchesPerAccount {
		l, err := home.api.searches.enter(t.Context(), home.account)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	waits, giveUp := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	for range maxWaitingSearches {
		waiting.Go(func() {
			for waits.Err() == nil { // again, where the look below took its place
				_, _ = home.api.searches.enter(waits, home.account)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for { // until all of them wait
		_, err := home.api.searches.enter(gone, home.account)
		if _, much := errors.AsType[contract.ErrTooMany](err); much {
			break
		}
	}
	const search = "/v0/box/chats?search=museum"
	r, err := http.NewRequestWithContext(t.Context(), "GET", home.http.URL+search, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Service-Api-Key", home.key)
	refused, err := home.http.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	refused.Body.Close()
	if refused.StatusCode != http.StatusTooManyRequests || refused.Header.Get("Retry-After") != "2" {
		t.Errorf("one more search: %d, Retry-After %q", refused.StatusCode, refused.Header.Get("Retry-After"))
	}
	work.ask("GET", search, "", 200)
	home.ask("GET", "/v0/evi/chats", "", 200)
	giveUp()
	waiting.Wait()
	leave[0]()
	home.ask("GET", search, "", 200)
}
