package api

import (
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"parley/appliance/contract"
)

// shares holds each account, and each address where no key is needed, to its
// share of the requests: a token bucket for each.
type shares struct {
	perSecond, burst int
	buckets          *lru.Cache[string, *rate.Limiter] // nil: there is no limit
}

// maxBuckets are remembered, 100 bytes each. One that is forgotten is full
// again, so nobody gains from it but by not asking for a while.
const maxBuckets = 4096

func newShares(l Limits) *shares {
	s := &shares{perSecond: l.RequestsPerSecond, burst: max(l.RequestBurst, 1)}
	if s.perSecond > 0 {
		s.buckets, _ = lru.New[string, *rate.Limiter](maxBuckets) // fails for a size below 1 only
	}
	return s
}

// take counts a request of by, or of its address where it has no account. The
// error is a contract.ErrTooMany that says when there is room for it.
func (s *shares) take(by caller, r *http.Request) error {
	if s.buckets == nil {
		return nil
	}
	name, whose := by.AccountID, "this account"
	if name == "" {
		from := address(r)
		if from.Addr().IsLoopback() {
			return nil // who is on the machine itself, or comes through its proxy
		}
		name, whose = from.String(), "this address"
	}
	now := time.Now()
	reserved := s.of(name).ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	return contract.ErrTooMany{What: "more requests a second than " + whose + " may make, by the setting limits.requests_per_second of this box", RetryAfter: wait}
}

func (s *shares) of(name string) *rate.Limiter {
	if b, ok := s.buckets.Get(name); ok {
		return b
	}
	// Of two requests that come at once, one may have made it already.
	made := rate.NewLimiter(rate.Limit(s.perSecond), s.burst)
	if b, there, _ := s.buckets.PeekOrAdd(name, made); there {
		return b
	}
	return made
}
