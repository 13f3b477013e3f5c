package api

import (
	"fmt"
	"net/http"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"parley/appliance/contract"
)

// requestRates limits the request rate of each account, and of each address that
// sends no verified key, with a token bucket for each.
type requestRates struct {
	perSecond, burst int
	buckets          *lru.Cache[string, *rate.Limiter] // nil if there is no limit
}

// maxBuckets bounds the stored buckets, 100 bytes each. A dropped bucket would
// start full, but only those unused for longest are dropped, and they are full.
const maxBuckets = 4096

func newRequestRates(l Limits) *requestRates {
	s := &requestRates{perSecond: l.RequestsPerSecond, burst: max(l.RequestBurst, 1)}
	if s.perSecond > 0 {
		s.buckets, _ = lru.New[string, *rate.Limiter](maxBuckets) // fails for a size below 1 only
	}
	return s
}

// allowAccount counts a request of an account. The error is a contract.ErrTooMany
// with the time after which a request is allowed again.
func (s *requestRates) allowAccount(id string) error { return s.allow(id, "this account") }

// allowAddress counts a request of an address. looksUp reports whether the
// request carries something that has to be looked up in the database; other
// requests from the machine itself, or through its proxy, are not counted. The
// error is that of allowAccount.
func (s *requestRates) allowAddress(r *http.Request, looksUp bool) error {
	from := address(r)
	if from.Addr().IsLoopback() && !looksUp {
		return nil
	}
	return s.allow(from.String(), "this address")
}

func (s *requestRates) allow(name, whose string) error {
	if s.buckets == nil {
		return nil
	}
	now := time.Now()
	reserved := s.bucket(name).ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	const what = "more requests a second than %s may make, by the setting limits.requests_per_second of this box"
	return contract.ErrTooMany{What: fmt.Sprintf(what, whose), RetryAfter: wait}
}

func (s *requestRates) bucket(name string) *rate.Limiter {
	if b, ok := s.buckets.Get(name); ok {
		return b
	}
	// Of two requests that come at once, one may have made it already.
	added := rate.NewLimiter(rate.Limit(s.perSecond), s.burst)
	if b, exists, _ := s.buckets.PeekOrAdd(name, added); exists {
		return b
	}
	return added
}
