package api

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxWrong wrong credentials within wrongWindow are answered as what they
	// are: a person who mistypes, a kiosk whose key was just replaced.
	maxWrong    = 10
	wrongWindow = time.Minute
	// maxAddresses is how many addresses one generation remembers; two of them
	// are 2 MiB at most.
	maxAddresses = 4096
)

// tries remembers who sent wrong credentials. Its memory is bounded: the
// addresses are kept in two generations, and when the newer one is full the
// older one is forgotten. The zero value is ready.
type tries struct {
	mu            sync.Mutex
	newer, before map[netip.Prefix]*wrongs
}

// wrongs are the times of the last wrong credentials of one address, a ring.
type wrongs struct {
	at     [maxWrong]time.Time
	oldest int
	slowed bool
}

// note counts a wrong credential. With maxWrong of them in the last minute it
// is not counted, and wait says when one more will be; begins is true the first
// time.
func (t *tries) note(from netip.Prefix, at time.Time) (wait time.Duration, begins bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.of(from)
	oldest := &w.at[w.oldest]
	if since := at.Sub(*oldest); since < wrongWindow {
		begins, w.slowed = !w.slowed, true
		return wrongWindow - since, begins
	}
	*oldest, w.slowed = at, false
	w.oldest = (w.oldest + 1) % maxWrong
	return 0, false
}

func (t *tries) of(from netip.Prefix) *wrongs {
	if w := t.newer[from]; w != nil {
		return w
	}
	w := t.before[from]
	if w == nil {
		w = &wrongs{}
	}
	if t.newer == nil || len(t.newer) >= maxAddresses {
		t.before, t.newer = t.newer, map[netip.Prefix]*wrongs{}
	}
	t.newer[from] = w
	return w
}

// address is who sent the request: an IPv4 address, or the 64 bits of an IPv6
// address that a provider gives one customer. It is the address of the
// connection; what a header says of another one, anybody can write.
func address(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
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
