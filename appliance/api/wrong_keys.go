package api

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	// maxWrong credentials within wrongWindow are answered with 401, beyond that
	// with 429. A person mistypes, and a kiosk's key may just have been replaced.
	maxWrong    = 10
	wrongWindow = time.Minute
	// maxAddresses bounds the remembered addresses: 2 MiB.
	maxAddresses = 8192
)

// wrongKeys counts wrong credentials by address.
type wrongKeys struct {
	mu        sync.Mutex
	byAddress *simplelru.LRU[netip.Prefix, *wrongTimes]
}

// wrongTimes is a ring of the times of an address's last wrong credentials.
type wrongTimes struct {
	at      [maxWrong]time.Time
	oldest  int
	limited bool
}

func newWrongKeys() *wrongKeys {
	by, _ := simplelru.NewLRU[netip.Prefix, *wrongTimes](maxAddresses, nil) // fails for a size below 1 only
	return &wrongKeys{byAddress: by}
}

// count counts a wrong credential. With maxWrong in the last wrongWindow it does
// not count it and returns the time until it would; begins is true for the first
// of these.
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

// wait returns the time until an address may send another wrong credential; 0 if it may now.
func (t *wrongKeys) wait(from netip.Prefix, at time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, known := t.byAddress.Get(from)
	if !known {
		return 0
	}
	return max(0, wrongWindow-at.Sub(w.at[w.oldest]))
}

// address returns the network that sent a request: an IPv4 address, or the 64
// bits of an IPv6 address that a provider assigns to one customer. It is taken
// from the connection, because anybody can write a header.
func address(r *http.Request) netip.Prefix { return networkOf(r.RemoteAddr) }

func networkOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{} // a Unix socket has no addresses: all its clients are one
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
