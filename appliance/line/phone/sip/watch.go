package sip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/emiago/sipgo/sip"
)

const (
	// checkEvery is how often the box looks whether its own address has changed. No
	// packet is sent for that.
	checkEvery = 10 * time.Second
	// pingEvery is how often the registrar is asked whether it is there. Address
	// translators of homes forget a way over UDP after 30 s to 3 minutes (RFC 4787 asks
	// for 2 minutes).
	pingEvery = 25 * time.Second
	// pingTime is how long an answer may take, with four repetitions over UDP.
	pingTime = 8 * time.Second
	// mutePing is how often the box registers at a peer that answers no OPTIONS.
	mutePing = 2 * time.Minute
)

// pings is what is known of a registrar's answers to OPTIONS.
type pings struct {
	unanswered bool // the peer registers the box, but does not answer OPTIONS
	failed     int  // how many have not been answered since one was
}

// watch waits for d. It returns earlier when the registration has to be renewed: the
// box has another address, the peer sees it at another one, or the peer does not answer
// any more and another of its addresses has to be tried.
func (r *registration) watch(ctx context.Context, d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	pinged, before := time.Now(), interfaces()
	for {
		select {
		case <-ctx.Done():
			return
		case <-over.C:
			return
		case <-check.C:
		}
		r.mu.Lock()
		held := r.held
		r.mu.Unlock()
		if held == nil {
			if interfaces() != before {
				return // the network may be back: there is no need to wait
			}
			continue
		}
		if r.moved(ctx, held) {
			return
		}
		if time.Since(pinged) >= pingEvery && !r.pings.unanswered {
			pinged = time.Now()
			if !r.answers(ctx, held) {
				return
			}
		}
	}
}

// moved reports whether the way to the registrar has changed: the connection is gone, or
// the box has another address on its own side.
func (r *registration) moved(ctx context.Context, held *binding) bool {
	if !held.flow.alive() {
		return true
	}
	if held.flow.transport != "UDP" {
		return false // a connection ends when its address does
	}
	f, err := r.t.flow(ctx, held.at)
	if err != nil {
		return false // no network at the moment; when it comes back, the address is compared
	}
	host, port := r.t.e.face(f)
	if host.IsUnspecified() {
		return false // no network either
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := netip.AddrPortFrom(host, port)
	if r.private == now || !r.private.IsValid() {
		return false
	}
	r.private, r.public = now, netip.AddrPort{}
	return true
}

// interfaces returns the addresses of the machine.
func interfaces() string {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	return fmt.Sprint(all)
}

// answers asks the registrar with OPTIONS whether it is there. It returns false if the
// box has to register again.
func (r *registration) answers(ctx context.Context, held *binding) bool {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	req := r.t.newRequest(sip.OPTIONS, r.t.uri(""), r.t.record(), newToken(), newToken(), 1)
	res, err := r.t.e.do(ctx, held.flow, req)
	if err != nil {
		r.pings.failed++
		return false
	}
	r.pings.failed = 0
	return !r.seen(held.flow, res)
}

// seen notes the address from which the peer got a request, as its response tells it
// (RFC 3581), and returns true if that address is new and is not what the Contact named.
func (r *registration) seen(f *flow, res *sip.Response) bool {
	host, port := r.t.e.face(f)
	via := res.Via()
	if via == nil || r.t.e.External.IsValid() && host == r.t.e.External {
		return false // the settings name the public address
	}
	at, named := host, port
	if text, ok := via.Params.Get("received"); ok {
		if ip, err := netip.ParseAddr(text); err == nil {
			at = ip.Unmap()
		}
	}
	if text, ok := via.Params.Get("rport"); ok && (at != host || f.transport == "UDP") {
		if n, err := strconv.ParseUint(text, 10, 16); err == nil && n != 0 {
			named = uint16(n)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.private = netip.AddrPortFrom(host, port)
	now := netip.AddrPortFrom(at, named)
	if now == r.private {
		now = netip.AddrPort{}
	}
	if now == r.public {
		return false
	}
	r.public = now
	return true
}

// contact returns the Contact of the box on a flow: the public address if a registrar
// sees the box at one.
func (t *trunk) contact(f *flow, user string) *sip.ContactHeader {
	c := t.e.contact(f, user)
	if t.registration == nil {
		return c
	}
	t.registration.mu.Lock()
	defer t.registration.mu.Unlock()
	if public := t.registration.public; public.IsValid() {
		c.Address.Host, c.Address.Port = bracketed(public.Addr()), int(public.Port())
	}
	return c
}
