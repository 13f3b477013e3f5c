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

// wrongKeys remembers who sent wrong credentials, those who did so last.
type wrongKeys struct {
	mu        sync.Mutex
	byAddress *simplelru.LRU[netip.Prefix, *wrongTimes]
}

// wrongTimes are the times of the last wrong credentials of one address, a ring.
type wrongTimes struct {
	at      [maxWrong]time.Time
	oldest  int
	limited bool
}

func newWrongKeys() *wrongKeys {
	by, _ := simplelru.NewLRU[netip.Prefix, *wrongTimes](maxAddresses, nil) // fails for a size below 1 only
	return &wrongKeys{byAddress: by}
}

// count counts a wrong credential. With maxWrong of them in the last minute it
// is not counted, and wait says when one more will be; begins is true the first
// time.
func (t *wrongKeys) count(from netip.Prefix, at time.Time) (wait time.Duration, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, known := t.byAddress.Get(from)
	if !known {
		w = &wrongTimes{}
		t.byAddress.Add(from, w)
	}
	oldest := &w.at[w.oldest]
	if since := at.Sub(*oldest); since < wrongWindow {
		begins, w.limited = !w.limited, true
		return wrongWindow - since, begins
	}
	*oldest, w.limited = at, false
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
