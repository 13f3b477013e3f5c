package sip

import (
	"bytes"
	"net/netip"
	"sync"
	"time"
)

// A rate is how many messages a second are taken, and how many at once.
type rate struct{ perSecond, burst float64 }

// The rates of messages that are taken. Others are dropped unread: a SIP peer repeats what
// gets no answer.
var (
	// strangerRate is for an address of no trunk. Whoever calls by mistake, or with a
	// password, sends a handful of messages.
	strangerRate = rate{10, 20}
	// strangersRate is for all of them together. It costs about one percent of a core.
	strangersRate = rate{500, 500}
	// trunkRate is for an address of a trunk, or of a live call. A call in takes about eight
	// messages, and one that presses keys ten a second: this serves hundreds of calls.
	trunkRate = rate{2000, 4000}
	// inviteRate is for the calls that begin at one address of a trunk, apart from trunkRate,
	// so that too many of them take nothing from live calls. A telephone system that comes
	// back after a failure places all its calls at once.
	inviteRate = rate{20, 100}
	// reportRate is for lines in the log about strangers: enough to see why a telephone that
	// is being set up gets no answer, and about one a minute from those who try all addresses
	// of the Internet.
	reportRate = rate{1.0 / 60, 5}
)

// maxSources bounds the addresses that are counted apart.
const maxSources = 4096

// sources limits what comes in, by address.
type sources struct {
	mu        sync.Mutex
	buckets   map[netip.Addr]*bucket
	invites   map[netip.Addr]*bucket
	strangers bucket
	reports   bucket
	held      map[netip.Addr]int // of live calls and open transactions
}

func (s *sources) init() {
	s.buckets, s.invites, s.held = map[netip.Addr]*bucket{}, map[netip.Addr]*bucket{}, map[netip.Addr]int{}
}

// A bucket counts what may still be taken. The zero value is full.
type bucket struct {
	spent float64
	at    time.Time
}

// take reports whether one more may be taken now.
func (b *bucket) take(r rate, now time.Time) bool {
	b.spent = max(0, b.spent-r.perSecond*now.Sub(b.at).Seconds())
	b.at = now
	if b.spent+1 > r.burst {
		return false
	}
	b.spent++
	return true
}

// bucketOf returns the bucket of an address. When there are too many, all begin anew: what
// strangers send together stays bounded by strangersRate.
func bucketOf(all map[netip.Addr]*bucket, from netip.Addr) *bucket {
	b := all[from]
	if b == nil {
		if len(all) >= maxSources {
			clear(all)
		}
		b = &bucket{}
		all[from] = b
	}
	return b
}

// hold makes an address count as known until release.
func (s *sources) hold(from netip.Addr) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[from]++
	var once sync.Once
	return func() {
		once.Do(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.held[from]--; s.held[from] <= 0 {
				delete(s.held, from)
			}
		})
	}
}

// admit reports whether a message is taken.
func (e *Endpoint) admit(from netip.Addr, text []byte) bool {
	trunk := e.trunkAt(from) != nil
	now := time.Now()
	s := &e.sources
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case trunk && beginsCall(text):
		return bucketOf(s.invites, from).take(inviteRate, now)
	case trunk || s.held[from] > 0 && !beginsCall(text):
		return bucketOf(s.buckets, from).take(trunkRate, now)
	}
	return bucketOf(s.buckets, from).take(strangerRate, now) && s.strangers.take(strangersRate, now)
}

// reportStranger logs that a request came from an address of no trunk.
func (e *Endpoint) reportStranger(f *flow, method string) {
	e.sources.mu.Lock()
	tell := e.sources.reports.take(reportRate, time.Now())
	e.sources.mu.Unlock()
	if tell {
		e.log.Info("sip: refused a request from an address of no trunk; phone.trunks says who may call", "peer",
			f.remote, "method", method)
	}
}

// beginsCall reports whether a message looks like an INVITE outside a dialog: its To has no
// tag.
func beginsCall(text []byte) bool {
	if !bytes.HasPrefix(text, []byte("INVITE ")) {
		return false
	}
	for line := range bytes.Lines(text) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		name = bytes.ToLower(bytes.TrimSpace(name))
		if ok && (string(name) == "to" || string(name) == "t") {
			return !bytes.Contains(value, []byte("tag"))
		}
	}
	return true
}

// trunkAt returns the trunk to which an address belongs, or nil.
func (e *Endpoint) trunkAt(from netip.Addr) *trunk {
	for _, t := range e.trunks {
		if t.has(from) {
			return t
		}
	}
	return nil
}
