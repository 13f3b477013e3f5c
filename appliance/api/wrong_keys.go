package api

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxWrong wrong credentials within wrongWindow are answered as what they
	// are: a person who mistypes, a kiosk whose key was just replaced.
	maxWrong    = 10
	wrongWindow = time.Minute
	// maxAddresses is how many addresses are remembered: 2 MiB.
	maxAddresses = 8192
)

// tries remembers who sent wrong credentials, those who did so last.
type tries struct {
	mu sync.Mutex
	by *simplelru.LRU[netip.Prefix, *wrongs]
}

// wrongs are the times of the last wrong credentials of one address, a ring.
type wrongs struct {
	at     [maxWrong]time.Time
	oldest int
	slowed bool
}

func newTries() *tries {
	by, _ := simplelru.NewLRU[netip.Prefix, *wrongs](maxAddresses, nil) // fails for a size below 1 only
	return &tries{by: by}
}

// note counts a wrong credential. With maxWrong of them in the last minute it
// is not counted, and wait says when one more will be; begins is true the first
// time.
func (t *tries) note(from netip.Prefix, at time.Time) (wait time.Duration, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, known := t.by.Get(from)
	if !known {
		w = &wrongs{}
		t.by.Add(from, w)
	}
	oldest := &w.at[w.oldest]
	if since := at.Sub(*oldest); since < wrongWindow {
		begins, w.slowed = !w.slowed, true
		return wrongWindow - since, begins
	}
	*oldest, w.slowed = at, false
	w.oldest = (w.oldest + 1) % maxWrong
	return 0, false
}

// address is who sent the request: an IPv4 address, or the 64 bits of an IPv6
// address that a provider gives one customer. It is the address of the
// connection; what a header says of another one, anybody can write.
func address(r *http.Request) netip.Prefix { return networkOf(r.RemoteAddr) }

func networkOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // a line without addresses, such as a Unix socket: all are one
	}
	ip := at.Addr().Unmap().WithZone("")
	bits := 64
	if ip.Is4() {
		bits = 32
	}
	p, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return p
}
