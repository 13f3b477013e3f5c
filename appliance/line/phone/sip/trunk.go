package sip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emiago/sipgo/sip"

	"parley/internal/sipuri"
)

// TrunkStatus is the state of a trunk.
type TrunkStatus struct {
	Name       string
	Registered bool
	At         string    // the address that accepted the registration, such as udp://192.0.2.10:5060
	Expires    time.Time // when the registration ends unless it is refreshed
	LastError  string    // the newest failure of a registration, a look-up or a call; stays after a success
	LastErrAt  time.Time
}

// trunk is a Trunk at work.
type trunk struct {
	Trunk
	e            *Endpoint
	peers        []sipuri.Address         // Address, parsed
	found        atomic.Pointer[[]target] // where the names of peers are, as last looked up
	registration *registration            // nil: the box does not register

	closing context.Context // ends when the trunk is closed: calls that ring are cancelled
	close   context.CancelFunc

	mu        sync.Mutex
	pending   int // calls that are being placed, and what they still have to do afterwards
	lastErr   string
	lastErrAt time.Time
}

// errNoHost is the error of calls over a trunk that has no host.
var errNoHost = errors.New("the trunk has no host in its address: calls come from it, but none can go there")

// failed records the newest failure of the trunk for its status, and reports whether it is
// another one than before.
func (t *trunk) failed(err error) (other bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	other = t.lastErr != err.Error()
	t.lastErr, t.lastErrAt = err.Error(), time.Now()
	return other
}

func (t *trunk) status() TrunkStatus {
	s := TrunkStatus{Name: t.Name}
	if t.registration != nil {
		s.Registered, s.At, s.Expires = t.registration.state()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.LastError, s.LastErrAt = t.lastErr, t.lastErrAt
	return s
}

// host returns the first host of the trunk, the domain of its users, as it stands in a
// SIP URI. It is empty if the trunk has only networks.
func (t *trunk) host() string {
	for _, a := range t.peers {
		if strings.Contains(a.Host, ":") {
			return "[" + a.Host + "]"
		}
		if a.Host != "" {
			return a.Host
		}
	}
	return ""
}

// record returns the address of record of the trunk's user: the identity under which the
// box registers and calls (RFC 3261, section 10). User may name the domain, as in
// user@example.org; otherwise it is the trunk's host.
func (t *trunk) record() sip.Uri {
	user, domain := t.User, t.host()
	if i := strings.LastIndexByte(user, '@'); i >= 0 && printable(user) {
		user, domain = user[:i], user[i+1:]
	}
	return sip.Uri{Scheme: "sip", User: escapeUser(user), Host: domain}
}

// uri returns the SIP URI of a user in the domain of the trunk; with an empty user that of
// the domain.
func (t *trunk) uri(user string) sip.Uri {
	u := sip.Uri{Scheme: "sip", User: escapeUser(user), Host: t.record().Host}
	if u.Host != t.host() {
		return u
	}
	for _, a := range t.peers {
		if a.Host != "" {
			u.Port = int(a.Port)
			break
		}
	}
	return u
}

// targets looks up the addresses of the trunk that can be called. A target that holds
// the registration comes first.
func (t *trunk) targets(ctx context.Context) ([]target, error) {
	var (
		all    []target
		failed []error
	)
	for _, a := range t.peers {
		if a.Network.IsValid() {
			continue
		}
		found, err := resolve(ctx, net.DefaultResolver, a)
		if err != nil {
			failed = append(failed, err)
		}
		all = append(all, found...)
	}
	switch last := t.found.Load(); {
	case len(all) > 0:
		t.found.Store(&all)
	case len(failed) == 0:
		return nil, errNoHost
	case last == nil:
		return nil, errors.Join(failed...)
	default: // the resolver is out of order; the peer may still be where it was
		t.failed(errors.Join(failed...))
		all = *last
	}
	if t.registration != nil {
		if at, ok := t.registration.at(); ok {
			all = slices.DeleteFunc(slices.Clone(all), func(o target) bool { return o.addr == at.addr })
			all = append([]target{at}, all...)
		}
	}
	return all[:min(len(all), maxTargets)], nil
}

// has reports whether calls from an address are calls of the trunk.
func (t *trunk) has(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	for _, a := range t.peers {
		if a.Network.IsValid() && a.Network.Contains(from) {
			return true
		}
	}
	if found := t.found.Load(); found != nil {
		if slices.ContainsFunc(*found, func(o target) bool { return o.addr.Addr() == from }) {
			return true
		}
	}
	if t.registration == nil {
		return false
	}
	at, ok := t.registration.at() // a registrar that the peer redirected us to
	return ok && at.addr.Addr() == from
}

const (
	// lookupEvery is how often the names of trunks are looked up, so that a peer whose
	// address has changed can call: providers set times of life of about a minute.
	lookupEvery = time.Minute
	// firstLookup bounds how long Open waits for names: a box without a network starts all
	// the same.
	firstLookup = 3 * time.Second
)

// openTrunks reads the addresses of the trunks and looks them up, so that calls that come
// soon after are known.
func (e *Endpoint) openTrunks() error {
	for _, o := range e.Options.Trunks {
		t := &trunk{Trunk: o, e: e}
		t.closing, t.close = context.WithCancel(e.stopping)
		if o.Address != "" {
			peers, err := sipuri.ParseAddresses(o.Address)
			if err != nil {
				return fmt.Errorf("sip: the address of the trunk %s: %w", o.Name, err)
			}
			t.peers = peers
		}
		if o.Register {
			if t.host() == "" || o.User == "" {
				return fmt.Errorf("sip: the trunk %s cannot register: without a host in its address and a user", o.Name)
			}
			t.registration = newRegistration(t)
		}
		e.trunks = append(e.trunks, t)
	}
	ctx, cancel := context.WithTimeout(e.stopping, firstLookup)
	defer cancel()
	var all sync.WaitGroup
	for _, t := range e.trunks {
		all.Go(func() { t.look(ctx) })
	}
	all.Wait()
	return nil
}

// startTrunks registers where a trunk asks for it, and keeps looking the peers up, until
// the endpoint stops.
func (e *Endpoint) startTrunks() {
	var all sync.WaitGroup
	for _, t := range e.trunks {
		all.Go(func() { t.keepLooking(e.stopping) })
		if t.registration != nil {
			all.Go(func() { t.registration.run(e.stopping) })
		}
	}
	all.Wait()
}

// closeTrunks cancels the calls that ring and unregisters, at most until ctx ends.
func (e *Endpoint) closeTrunks(ctx context.Context) {
	var all sync.WaitGroup
	for _, t := range e.trunks {
		t.close()
		if t.registration != nil {
			all.Go(func() { t.registration.close(ctx) })
		}
	}
	all.Wait()
	for _, t := range e.trunks {
		for t.busy() && ctx.Err() == nil {
			pause(ctx, 10*time.Millisecond)
		}
	}
}

// background runs work of a call out that outlives the wait for its answer. It ends with
// the endpoint.
func (t *trunk) background(work func(context.Context)) {
	t.begin()
	t.e.workers.Go(func() {
		defer t.end()
		ctx, cancel := context.WithTimeout(t.e.stopping, farewellTime)
		defer cancel()
		work(ctx)
	})
}

func (t *trunk) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending++
}

func (t *trunk) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending--
}

func (t *trunk) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pending > 0
}

// look looks the names of the trunk up.
func (t *trunk) look(ctx context.Context) {
	if t.host() == "" {
		return
	}
	if _, err := t.targets(ctx); err != nil && t.e.stopping.Err() == nil {
		if t.failed(err) {
			t.e.log.Warn("cannot find a telephone trunk", "trunk", t.Name, "error", err)
		}
	}
}

func (t *trunk) keepLooking(ctx context.Context) {
	tick := time.NewTicker(lookupEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// trunkNamed returns the trunk with a name, or the only one if the name is empty.
func (e *Endpoint) trunkNamed(name string) (*trunk, error) {
	if name == "" && len(e.trunks) == 1 {
		return e.trunks[0], nil
	}
	names := make([]string, len(e.trunks))
	for i, t := range e.trunks {
		if t.Name == name {
			return t, nil
		}
		names[i] = t.Name
	}
	return nil, fmt.Errorf("no trunk is named %.64q; the trunks are %q", name, names)
}

// Trunks returns the state of the trunks, in the order of the settings.
func (e *Endpoint) Trunks() []TrunkStatus {
	all := make([]TrunkStatus, len(e.trunks))
	for i, t := range e.trunks {
		all[i] = t.status()
	}
	return all
}
